"""Damped least squares against NumPy, in every shape, and where the normal equations would fail."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciml.pinn.least_squares import damped_steps, predicted, spectrum

SHAPES = [(30, 7), (7, 30), (8, 8), (9, 8), (1, 5), (5, 1)]


def _problem(n, p, seed=0):
    rng = np.random.default_rng(seed)
    return jnp.asarray(rng.normal(size=(n, p))), jnp.asarray(rng.normal(size=n))


@pytest.mark.parametrize(("n", "p"), SHAPES)
def test_steps_minimise_the_damped_quadratic(n, p):
    jacobian, residual = _problem(n, p)
    damping = jnp.asarray([1e-3, 0.1, 10.0])
    largest = np.linalg.norm(jacobian, 2)
    for step, mu in zip(damped_steps(spectrum(jacobian, residual), damping), damping, strict=True):
        stacked = np.vstack([jacobian, float(mu) * largest * np.eye(p)])
        want = np.linalg.lstsq(stacked, -np.concatenate([residual, np.zeros(p)]), rcond=None)[0]
        np.testing.assert_allclose(step, want, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("n", "p"), SHAPES)
def test_predicted_reduction_is_the_linear_model(n, p):
    jacobian, residual = _problem(n, p, 1)
    damping = jnp.asarray([1e-8, 1e-2, 1.0, 1e4])
    spec = spectrum(jacobian, residual)
    want = [np.sum((jacobian @ d + residual) ** 2) for d in damped_steps(spec, damping)]
    np.testing.assert_allclose(predicted(spec, damping), want, rtol=1e-9, atol=1e-12)


def test_singular_values_are_right_below_the_square_root_of_rounding():
    # condition 1e12: J^T J would lose the small half of the spectrum
    rng = np.random.default_rng(3)
    u, v = (np.linalg.qr(rng.normal(size=(40, 12)))[0], np.linalg.qr(rng.normal(size=(12, 12)))[0])
    values = np.logspace(0, -12, 12)
    for matrix in ((u * values) @ v, ((u * values) @ v).T):
        spec = spectrum(jnp.asarray(matrix), jnp.ones(matrix.shape[0]))
        np.testing.assert_allclose(spec.values, values, rtol=1e-3)


def test_zero_jacobian_gives_no_step():
    spec = spectrum(jnp.zeros((6, 3)), jnp.ones(6))
    assert not np.any(damped_steps(spec, jnp.asarray([1e-3, 1.0])))
    np.testing.assert_allclose(predicted(spec, jnp.asarray([1e-3, 1.0])), 6.0)


@settings(deadline=None, max_examples=20)
@given(st.floats(1e-100, 1e100), st.integers(0, 5))
def test_steps_do_not_depend_on_the_unit_of_the_residual(unit, seed):
    jacobian, residual = _problem(12, 5, seed)
    damping = jnp.asarray([0.1])
    step = damped_steps(spectrum(jacobian, residual), damping)
    scaled = damped_steps(spectrum(unit * jacobian, unit * residual), damping)
    np.testing.assert_allclose(scaled, step, rtol=1e-9)


def test_float32_stays_float32():
    spec = spectrum(jnp.ones((4, 2), jnp.float32), jnp.ones(4, jnp.float32))
    assert damped_steps(spec, jnp.asarray([0.1], jnp.float32)).dtype == jnp.float32


def test_nonfinite_rows_are_not_hidden():
    spec = spectrum(jnp.ones((4, 2)).at[0, 0].set(jnp.nan), jnp.ones(4))
    assert not bool(jnp.all(jnp.isfinite(jax.tree.leaves(spec)[0])))
