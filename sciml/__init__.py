"""Scientific machine learning on one definition of a PDE: solved, learned, probed and certified."""

from sciml.domain import (
    Ball as Ball,
    Box as Box,
    Difference as Difference,
    Domain as Domain,
    Polygon as Polygon,
    Sensors as Sensors,
    SpaceTime as SpaceTime,
)
from sciml.field import (
    Field as Field,
    component as component,
    curl as curl,
    derivative as derivative,
    div as div,
    dt as dt,
    grad as grad,
    laplacian as laplacian,
)
from sciml.gridfield import GridField as GridField, verify_initial as verify_initial
from sciml.learn import from_flax as from_flax
from sciml.pinn import (
    Identified as Identified,
    hard_constraint as hard_constraint,
    identify as identify,
    mlp as mlp,
    solve as solve,
)
from sciml.problem import (
    Group as Group,
    HodgeForm as HodgeForm,
    LinearProblem as LinearProblem,
    Problem as Problem,
    Reference as Reference,
    Role as Role,
    exact_reference as exact_reference,
)
from sciml.report import environment as environment, load as load, require_float64 as require_float64
from sciml.solution import RESULTS as RESULTS, Solution as Solution
