"""Scientific machine learning on one definition of a PDE: solved, learned, probed and certified."""

from sciml.domain import (
    Ball as Ball,
)
from sciml.domain import (
    Box as Box,
)
from sciml.domain import (
    Difference as Difference,
)
from sciml.domain import (
    Domain as Domain,
)
from sciml.domain import (
    Polygon as Polygon,
)
from sciml.domain import (
    Sensors as Sensors,
)
from sciml.domain import (
    SpaceTime as SpaceTime,
)
from sciml.field import (
    Field as Field,
)
from sciml.field import (
    component as component,
)
from sciml.field import (
    curl as curl,
)
from sciml.field import (
    derivative as derivative,
)
from sciml.field import (
    div as div,
)
from sciml.field import (
    dt as dt,
)
from sciml.field import (
    grad as grad,
)
from sciml.field import (
    laplacian as laplacian,
)
from sciml.gridfield import GridField as GridField
from sciml.gridfield import verify_initial as verify_initial
from sciml.learn import from_flax as from_flax
from sciml.pinn import (
    Identified as Identified,
)
from sciml.pinn import (
    hard_constraint as hard_constraint,
)
from sciml.pinn import (
    identify as identify,
)
from sciml.pinn import (
    mlp as mlp,
)
from sciml.pinn import (
    solve as solve,
)
from sciml.problem import (
    Group as Group,
)
from sciml.problem import (
    HodgeForm as HodgeForm,
)
from sciml.problem import (
    LinearProblem as LinearProblem,
)
from sciml.problem import (
    Problem as Problem,
)
from sciml.problem import (
    Reference as Reference,
)
from sciml.problem import (
    Role as Role,
)
from sciml.problem import (
    exact_reference as exact_reference,
)
from sciml.report import environment as environment
from sciml.report import load as load
from sciml.report import require_float64 as require_float64
from sciml.solution import RESULTS as RESULTS
from sciml.solution import Solution as Solution
