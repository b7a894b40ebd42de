"""Solving a Problem with a network: residual groups, sampling, methods."""

from sciml.pinn.identify import Identified as Identified, identify as identify
from sciml.pinn.methods import METHODS as METHODS
from sciml.pinn.network import (
    HardConstraint as HardConstraint,
    hard_constraint as hard_constraint,
    mlp as mlp,
    random_features as random_features,
)
from sciml.pinn.solve import (
    Plan as Plan,
    Progress as Progress,
    begin as begin,
    check_budget as check_budget,
    solve as solve,
)
from sciml.pinn.solver import Solver as Solver, State as State
