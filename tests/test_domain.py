"""Domains against their volumes, moments, normals and the divergence theorem."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sciml.domain import Ball, Box, Difference, Polygon, Sensors, SpaceTime
from sciml.problem import Group, Role

KEY = jax.random.key(0)
N = 20000
L_SHAPE = [(0, 0), (1, 0), (1, -1), (-1, -1), (-1, 1), (0, 1)]
DOMAINS = {
    "interval": Box(-1, 3, ("x",)),
    "box": Box([0, 1, 2], [1, 3, 5]),
    "four": Box([0] * 4, [1] * 4, ("a", "b", "c", "d")),
    "circle": Box([0, 0], [2, 1], ("x", "y"), wrap=("x",)),
    "disc": Ball([1.0, -2.0], 0.5),
    "ball": Ball([0.0, 0.0, 0.0], 2.0),
    "polygon": Polygon(L_SHAPE),
    "clockwise": Polygon(L_SHAPE[::-1]),
    "holes": Difference(Box([-0.5, -0.5], [0.5, 0.5]), [Ball([0.3, 0.3], 0.1), Ball([-0.3, -0.3], 0.2)]),
    "time": SpaceTime(Ball([0.0, 0.0], 1.0), 1.0, 4.0),
}
VOLUMES = {
    "interval": (4, 2),
    "box": (6, 2 * (2 + 3 + 6)),
    "four": (1, 8),
    "circle": (2, 4),
    "disc": (np.pi / 4, np.pi),
    "ball": (32 * np.pi / 3, 16 * np.pi),
    "polygon": (3, 8),
    "clockwise": (3, 8),
    "holes": (1 - 0.05 * np.pi, 4),
    "time": (3 * np.pi, 6 * np.pi),
}


@pytest.mark.parametrize("name", DOMAINS)
def test_volumes(name):
    for region, value in zip(("interior", "boundary"), VOLUMES[name], strict=True):
        np.testing.assert_allclose(DOMAINS[name].volume(region), value, rtol=1e-12)


@pytest.mark.parametrize("name", DOMAINS)
def test_samples_lie_where_they_should_and_are_even(name):
    domain = DOMAINS[name]
    assert len(set(domain.regions())) == len(domain.regions())
    for region in domain.regions():
        points = domain.sample(region, 500, key=KEY)
        assert points.shape == (500, len(domain.names)) and bool(jnp.all(jnp.isfinite(points)))
        assert bool(jnp.all(jax.vmap(domain.contains)(points))), region
    points, weights = domain.quadrature("interior")
    np.testing.assert_allclose(weights.sum(), VOLUMES[name][0], rtol=1e-9)
    many = domain.sample("interior", N, key=jax.random.key(1))
    for moment in (lambda x: x, lambda x: x**2):
        spread = jnp.std(moment(many), axis=0) / np.sqrt(N)
        gap = jnp.abs(moment(many).mean(axis=0) - (weights @ moment(points)) / weights.sum())
        assert bool(jnp.all(gap < 6 * spread)), name


@pytest.mark.parametrize("name", DOMAINS)
def test_grid_is_inside_and_fixed(name):
    domain = DOMAINS[name]
    grid = domain.grid([9] * len(domain.names))
    assert bool(jnp.all(jax.vmap(domain.contains)(grid)))
    np.testing.assert_array_equal(grid, domain.grid([9] * len(domain.names)))


@pytest.mark.parametrize("name", ["interval", "box", "disc", "ball", "polygon", "clockwise", "holes"])
def test_divergence_theorem(name):
    domain, dims = DOMAINS[name], len(DOMAINS[name].names)
    power = jnp.arange(1, dims + 1)

    def field(x):
        return x * jnp.sum(x**2) + power

    z, w = domain.quadrature("interior")
    divergence = jnp.sum(w * jax.vmap(lambda x: (dims + 2) * jnp.sum(x**2))(z))
    parts = [r for r in domain.regions() if r in ("boundary", "holes")]
    flux = 0.0
    for region in parts:
        z, w = domain.quadrature(region)
        normals = jax.vmap(lambda x, r=region: domain.normal(r, x))(z)
        np.testing.assert_allclose(jnp.linalg.norm(normals, axis=1), 1, rtol=1e-12)
        flux = flux + jnp.sum(w * jnp.sum(normals * jax.vmap(field)(z), axis=1))
    np.testing.assert_allclose(flux, divergence, rtol=5e-3 if name == "holes" else 1e-12, atol=1e-11)


@pytest.mark.parametrize("name", ["interval", "box", "disc", "ball", "polygon", "clockwise", "time"])
def test_panels_refine_a_rule(name):
    """The integral of cos(20 x_0): one panel leaves an error, more panels agree."""
    found = []
    for panels in (1, 2, 3):
        z, w = DOMAINS[name].quadrature("interior", panels)
        np.testing.assert_allclose(w.sum(), VOLUMES[name][0], rtol=1e-12)
        found.append(float(w @ jnp.cos(20 * z[:, 0])))
    assert abs(found[1] - found[2]) < 1e-8 * VOLUMES[name][0]
    if name == "interval":
        np.testing.assert_allclose(found[2], (np.sin(60) + np.sin(20)) / 20, rtol=1e-12)


def test_a_star_is_tiled_by_triangles():
    angle = np.pi * np.arange(10) / 5
    radius = np.where(np.arange(10) % 2 == 0, 2.0, 0.7)
    star = Polygon(np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1))
    z, w = star.quadrature("interior")
    assert bool(jnp.all(jax.vmap(star.contains)(z)))
    np.testing.assert_allclose(w.sum(), star.volume("interior"), rtol=1e-12)
    np.testing.assert_allclose(w @ z, [0, 0], atol=1e-12)


def test_normals_of_a_small_hole_beside_a_large_one():
    domain = Difference(Box([-1, -1], [1, 1]), [Ball([-0.3, -0.3], 0.2), Ball([0.0, -0.3], 0.05)])
    points = domain.sample("holes", 200, key=KEY)
    for hole in domain.holes:
        ours = jnp.abs(jnp.linalg.norm(points - hole.centre, axis=1) - hole.radius) < 1e-9
        assert int(ours.sum()) > 20
        normals = jax.vmap(lambda x: domain.normal("holes", x))(points[ours])
        np.testing.assert_allclose(normals, (hole.centre - points[ours]) / hole.radius, atol=1e-9)


def test_faces_and_their_normals():
    box = DOMAINS["box"]
    assert box.regions() == ("interior", "boundary", "left", "right", "bottom", "top", "back", "front")
    np.testing.assert_array_equal(box.sample("top", 5, key=KEY)[:, 1], 3)
    np.testing.assert_array_equal(box.normal("back", jnp.asarray([0.5, 2, 2.0])), [0, 0, -1])
    assert "d_upper" in DOMAINS["four"].regions()
    shape = DOMAINS["polygon"]
    np.testing.assert_allclose(shape.normal("edge_0", jnp.asarray([0.5, 0.0])), [0, 1], atol=1e-15)
    np.testing.assert_allclose(DOMAINS["holes"].normal("hole_0", jnp.asarray([0.4, 0.3])), [-1, 0], atol=1e-12)


def test_periodic_coordinates_have_no_faces():
    assert DOMAINS["circle"].regions() == ("interior", "boundary", "bottom", "top")
    assert DOMAINS["circle"].periodic == (True, False)
    torus = Box([0, 0], [1, 1], wrap=("x", "y"))
    assert torus.regions() == ("interior",)
    np.testing.assert_allclose(torus.grid((4, 4)).max(), 0.75)


def test_time_regions():
    domain = SpaceTime(Box(0, 2, ("x",)), 1.0, 3.0)
    assert domain.names == ("x", "t") and domain.regions() == (
        "interior",
        "initial",
        "final",
        "boundary",
        "left",
        "right",
    )
    np.testing.assert_array_equal(domain.sample("initial", 7, key=KEY)[:, 1], 1)
    np.testing.assert_array_equal(domain.sample("final", 7, key=KEY)[:, 1], 3)
    np.testing.assert_array_equal(domain.sample("left", 7, key=KEY)[:, 0], 0)
    assert float(domain.volume("initial")) == 2 and float(domain.volume("left")) == 2
    np.testing.assert_array_equal(domain.normal("right", jnp.asarray([2.0, 1.5])), [1, 0])
    pairs = {(m.first, m.second) for m in domain.meetings(3)}
    assert {("initial", "left"), ("initial", "right")} <= pairs


def test_a_ray_through_a_vertex():
    """physicsnemo-sym 140: the triangle (0, 0), (1, 1), (1, -1); the point (-1, 0) looks straight at a vertex."""
    triangle = Polygon([(0, 0), (1, 1), (1, -1)])
    inside = [
        bool(triangle.contains(jnp.asarray(p)))
        for p in [(-1.0, 0), (0, 2.0), (0.01, 2.0), (0.5, 0.0), (0.0, 0.0), (1.0, 0.3)]
    ]
    assert inside == [False, False, False, True, True, True]


def test_corners_are_named():
    found = {(m.first, m.second): m.points for m in Box([0, 0], [1, 1]).meetings(1)}
    assert set(found) == {("left", "bottom"), ("left", "top"), ("right", "bottom"), ("right", "top")}
    np.testing.assert_array_equal(found["right", "top"], [[1, 1]])
    np.testing.assert_array_equal([m.points[0] for m in Polygon(L_SHAPE).meetings(1)], L_SHAPE)


def test_measured_rows_come_back_whole():
    rows = [[0.1, 5.0], [0.7, 6.0], [0.9, 7.0]]
    domain = Sensors(Box(0, 1, ("x",)), "probe", rows)
    np.testing.assert_array_equal(domain.sample("probe", 3, key=KEY), rows)
    assert float(domain.volume("probe")) == 3
    some = domain.sample("probe", 2, key=KEY)
    assert {tuple(r) for r in np.asarray(some).tolist()} < {tuple(r) for r in rows}
    assert domain.sample("probe", 10, key=KEY).shape == (10, 2)
    with pytest.raises(ValueError, match="has no normal"):
        domain.normal("probe", jnp.asarray([0.1]))


def test_domains_are_families():
    family = jax.vmap(lambda r: Ball(jnp.zeros(2), r))(jnp.asarray([1.0, 2.0]))
    points = jax.jit(jax.vmap(lambda d: d.sample("boundary", 5, key=KEY)))(family)
    np.testing.assert_allclose(jnp.linalg.norm(points, axis=2), [[1.0] * 5, [2.0] * 5])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Box([0, 0], [1, 0]), "lower below upper"),
        (lambda: Box([0, 0], [1]), "upper of shape"),
        (lambda: Box(0, float("nan")), "lower below upper"),
        (lambda: Box([0], [1], ("x",), wrap=("y",)), "periodic coordinate 'y'; expected one of x"),
        (lambda: Box([0] * 4, [1] * 4), "3 coordinate names for 4"),
        (lambda: SpaceTime(Box(0, 1), 1.0, 1.0), "the start before the end"),
        (lambda: Ball([0.0], -1.0), "radius -1.0"),
        (lambda: Polygon([(0, 0), (1, 1)]), "at least 3 vertices"),
        (lambda: Polygon([(0, 0), (1, 1), (2, 2)]), "zero area"),
        (lambda: Polygon([(0, 0), (2, 2), (2, 0), (0, 1)]), "edges cross"),
        (lambda: Difference(Box([0, 0], [1, 1]), []), "no holes"),
        (lambda: Difference(Box([0, 0], [1, 1]), [Ball([1.0, 1.0], 0.5)]), "hole 0 that reaches outside"),
        (lambda: Sensors(Box(0, 1), "interior", [[0.0]]), "already has"),
        (lambda: Sensors(Box(0, 1), "probe", [[jnp.nan]]), "non-finite rows"),
        (
            lambda: Box(0, 1).sample("lid", 3, key=KEY),
            "unknown region 'lid'; expected one of interior, boundary, left, right",
        ),
    ],
)
def test_misuse_is_one_sentence(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_groups_default_to_order_zero():
    assert Group("left", Role.BOUNDARY).order == 0
