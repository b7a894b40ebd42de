"""Whether a Problem is well posed and consistently stated."""

from sciml.wellposed.check import Report as Report
from sciml.wellposed.check import check as check
from sciml.wellposed.check import require as require
from sciml.wellposed.corners import Corner as Corner
from sciml.wellposed.resolution import (
    invariant_drift as invariant_drift,
)
from sciml.wellposed.resolution import (
    points_per_period as points_per_period,
)
from sciml.wellposed.resolution import (
    resolution_notes as resolution_notes,
)
