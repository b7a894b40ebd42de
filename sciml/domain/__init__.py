"""Domains: where a Problem lives, as named regions."""

from sciml.domain.ball import Ball as Ball
from sciml.domain.base import Domain as Domain
from sciml.domain.base import Meeting as Meeting
from sciml.domain.box import Box as Box
from sciml.domain.difference import Difference as Difference
from sciml.domain.polygon import Polygon as Polygon
from sciml.domain.sensors import Sensors as Sensors
from sciml.domain.space_time import SpaceTime as SpaceTime
