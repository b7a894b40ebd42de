"""Solving a Problem with a network: residual groups, sampling, methods."""

from sciml.pinn.identify import Identified as Identified
from sciml.pinn.identify import identify as identify
from sciml.pinn.methods import METHODS as METHODS
from sciml.pinn.network import (
    HardConstraint as HardConstraint,
)
from sciml.pinn.network import (
    hard_constraint as hard_constraint,
)
from sciml.pinn.network import (
    mlp as mlp,
)
from sciml.pinn.network import (
    random_features as random_features,
)
from sciml.pinn.solve import (
    Plan as Plan,
)
from sciml.pinn.solve import (
    Progress as Progress,
)
from sciml.pinn.solve import (
    begin as begin,
)
from sciml.pinn.solve import (
    check_budget as check_budget,
)
from sciml.pinn.solve import (
    solve as solve,
)
from sciml.pinn.solver import Solver as Solver
from sciml.pinn.solver import State as State
