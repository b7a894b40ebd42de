"""Differential operators against closed forms and identities."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciml.field import component, curl, derivative, directional, div, dt, grad, laplacian

X = jnp.asarray([0.3, -0.7, 1.1])


def wave(x):
    return jnp.sin(2 * x[0]) * jnp.exp(x[1]) * x[2] ** 4


def vector(x):
    return jnp.stack([x[0] ** 2 * x[1], jnp.sin(x[1] * x[2]), jnp.exp(x[0]) * x[2]])


@pytest.mark.parametrize("order", range(5))
def test_derivatives_of_order_up_to_four(order):
    trig = [np.sin, np.cos, lambda v: -np.sin(v), lambda v: -np.cos(v), np.sin][order]
    x, y, z = np.asarray(X)
    np.testing.assert_allclose(derivative(wave, 0, order)(X), 2**order * trig(2 * x) * np.exp(y) * z**4, rtol=1e-13)
    powers = [z**4, 4 * z**3, 12 * z**2, 24 * z, 24.0][order]
    np.testing.assert_allclose(derivative(wave, 2, order)(X), np.sin(2 * x) * np.exp(y) * powers, rtol=1e-13)
    np.testing.assert_allclose(dt(wave, order)(X), derivative(wave, -1, order)(X))


def test_first_order_operators():
    x, y, z = np.asarray(X)
    rows = [[2 * x * y, x**2, 0], [0, z * np.cos(y * z), y * np.cos(y * z)], [np.exp(x) * z, 0, np.exp(x)]]
    np.testing.assert_allclose(grad(vector)(X), rows, rtol=1e-13)
    np.testing.assert_allclose(div(vector)(X), np.trace(rows), rtol=1e-13)
    np.testing.assert_allclose(curl(vector)(X), [-y * np.cos(y * z), -np.exp(x) * z, -(x**2)], rtol=1e-13)
    np.testing.assert_allclose(grad(wave, axes=(2,))(X), [derivative(wave, 2)(X)])
    np.testing.assert_allclose(
        directional(wave, lambda x: jnp.asarray([1.0, 2.0, 0.0]))(X), grad(wave)(X) @ np.array([1.0, 2, 0])
    )
    plane = curl(lambda x: jnp.stack([-x[1], x[0] ** 2]))(jnp.asarray([3.0, 5.0]))
    np.testing.assert_allclose(plane, 7.0)


def test_laplacian_over_some_axes_and_of_vectors():
    x, y, z = np.asarray(X)
    np.testing.assert_allclose(laplacian(wave, axes=(0, 1))(X), -3 * wave(X), rtol=1e-12)
    np.testing.assert_allclose(laplacian(vector)(X), [2 * y, -(y**2 + z**2) * np.sin(y * z), np.exp(x) * z], rtol=1e-12)


@pytest.mark.parametrize("names", [("ab", "cd"), ("u", "v"), ("velocity", "pressure")])
def test_u17_laplacian_of_a_vector_field_whatever_its_names(names):
    def u(x):
        return jnp.stack([x[0] ** 2 + x[1] ** 2, x[0] ** 2 - x[1] ** 2])

    points = jax.random.uniform(jax.random.key(0), (20, 2)) + jnp.asarray([0.0, 3.0])
    for index, (name, value) in enumerate(zip(names, (4.0, 0.0), strict=True)):
        for which in (name, index):
            part = laplacian(component(u, which, names))
            np.testing.assert_allclose(jax.vmap(part)(points), value, atol=1e-12)
        np.testing.assert_allclose(jax.vmap(component(laplacian(u), name, names))(points), value, atol=1e-12)
    with pytest.raises(ValueError, match=f"unknown component 'w'; expected one of {names[0]}, {names[1]}"):
        component(u, "w", names)


@settings(deadline=None, max_examples=5)
@given(st.lists(st.floats(-2, 2), min_size=30, max_size=30))
def test_identities_on_random_cubics(numbers):
    a = jnp.asarray(numbers).reshape(3, 10)

    def cubic(x):
        p = jnp.stack(
            [
                x[0],
                x[1],
                x[2],
                x[0] * x[1],
                x[1] * x[2],
                x[2] * x[0],
                x[0] ** 3,
                x[1] ** 3,
                x[2] ** 3,
                x[0] * x[1] * x[2],
            ]
        )
        return a @ p

    scalar = component(cubic, 0)
    np.testing.assert_allclose(curl(grad(scalar))(X), 0, atol=1e-11)
    np.testing.assert_allclose(div(curl(cubic))(X), 0, atol=1e-11)
    np.testing.assert_allclose(div(grad(scalar))(X), laplacian(scalar)(X), atol=1e-11)
    rotation = curl(curl(cubic))(X)
    np.testing.assert_allclose(rotation, grad(div(cubic))(X) - laplacian(cubic)(X), atol=1e-11)


def test_names_and_indices():
    names = ("x", "y", "t")
    np.testing.assert_allclose(derivative(wave, "t", 2, names)(X), derivative(wave, 2, 2)(X))
    with pytest.raises(ValueError, match="unknown coordinate 'z'; expected one of x, y, t"):
        derivative(wave, "z", names=names)
    with pytest.raises(ValueError, match=r"coordinate index 3; expected one of 3 \(x, y, t\)"):
        derivative(wave, 3, names=names)
    with pytest.raises(ValueError, match="pass names"):
        derivative(wave, "x")
    with pytest.raises(ValueError, match="coordinate 5 of a point with 3 coordinates"):
        derivative(wave, 5)(X)
    with pytest.raises(ValueError, match="order -1"):
        derivative(wave, 0, -1)
    with pytest.raises(ValueError, match="component 7"):
        component(vector, 7)(X)
    with pytest.raises(ValueError, match="curl expects"):
        curl(lambda x: x[:2])(X)
