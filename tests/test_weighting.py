"""Weightings: the mathematics against oracles, and the contract over every member of ALL."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from sciml.weighting import ALL, Weighting, huber, least_squares, student_t
from sciml.weighting.balance import mean_rule, smooth, sum_rule
from sciml.weighting.student_t import NU_MAX, expected_precision

EACH = pytest.mark.parametrize("name", sorted(ALL))


def _normal(shape, seed=0):
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape))


@eqx.filter_jit
def _update(weighting, residuals, state):
    return weighting.update(residuals, state)


def _updated(weighting, residuals, times=1):
    state = weighting.init(residuals)
    for _ in range(times):
        weights, state = _update(weighting, residuals, state)
    return weights, state


@eqx.filter_jit
def _converged(weighting, residuals, times):
    def again(_, carry):
        return weighting.update(residuals, carry[1])

    return jax.lax.fori_loop(0, times, again, weighting.update(residuals, weighting.init(residuals)))


# --- Student-t: expectation, likelihood, estimates -----------------------------------------------------------------


def _posterior_mean(r, s, nu):
    """E[tau | r] by quadrature over log tau of prior times likelihood, r a vector."""

    def density(y, power):
        tau = np.exp(y)
        log_prior = scipy.stats.gamma.logpdf(tau, nu / 2, scale=2 / nu)
        log_likelihood = np.sum(scipy.stats.norm.logpdf(r, scale=s / np.sqrt(tau)))
        return np.exp(log_prior + log_likelihood + (1 + power) * y)

    top, bottom = (scipy.integrate.quad(density, -25, 10, args=(p,), epsabs=0, limit=400)[0] for p in (1, 0))
    return top / bottom


@pytest.mark.parametrize("nu", [0.7, 4.0, 30.0])
@pytest.mark.parametrize("r", [[0.3], [-5.0], [0.4, 2.0], [1.0, -2.0, 3.0]])
def test_expectation_is_the_posterior_mean(r, nu):
    s = 1.7
    distance = jnp.asarray([np.sum(np.square(r)) / s**2])
    got = expected_precision(distance, jnp.asarray(nu), len(r))[0]
    np.testing.assert_allclose(got, _posterior_mean(np.asarray(r), s, nu), rtol=1e-8)


def test_vector_residuals_share_one_weight_a_point():
    r = _normal((50, 3))
    weights, state = _updated(student_t(fixed_nu=2.0), {"g": r}, 3)
    d = np.sum(np.square(r), axis=1) / float(state.scale["g"]) ** 2
    expected = (2 + 3) / (2 + d)
    np.testing.assert_allclose(weights["g"], expected / expected.mean(), rtol=1e-12)


def test_irls_climbs_the_observed_likelihood():
    rng = np.random.default_rng(0)
    design = np.stack([np.ones(200), np.linspace(-1, 1, 200)], axis=1)
    y = design @ [1.0, 2.0] + 0.1 * rng.standard_t(2, size=200)
    for weighting in (student_t(fixed_nu=3.0, decay=0.0), student_t(start_nu=30.0, decay=0.0)):
        beta, state = np.array([8.0, -5.0]), None
        heights = []
        for _ in range(40):
            residuals = {"data": jnp.asarray((y - design @ beta)[:, None])}
            state = weighting.init(residuals) if state is None else state
            weights, state = _update(weighting, residuals, state)
            root = np.sqrt(np.asarray(weights["data"]))
            beta = np.linalg.lstsq(design * root[:, None], y * root, rcond=None)[0]
            nu, scale = float(state.nu["data"]), float(state.scale["data"])
            heights.append(np.sum(scipy.stats.t.logpdf(y - design @ beta, nu, scale=scale)))
        assert np.all(np.diff(heights) > -1e-6 * abs(heights[-1]))
        assert heights[-1] > heights[0] + 100
        np.testing.assert_allclose(beta, [1, 2], atol=0.05)


@pytest.mark.parametrize("nu", [0.5, 1.0, 4.0, 30.0])
def test_estimates_agree_with_maximum_likelihood(nu):
    sample = scipy.stats.t.rvs(nu, scale=2.5, size=4000, random_state=1)
    want_nu, _, want_scale = scipy.stats.t.fit(sample, floc=0)
    _, state = _converged(student_t(decay=0.0), {"g": jnp.asarray(sample)[:, None]}, 40)
    np.testing.assert_allclose(state.nu["g"], max(want_nu, 0.5), rtol=5e-3)
    np.testing.assert_allclose(state.scale["g"], want_scale, rtol=5e-3)


@pytest.mark.parametrize("q", [2, 3])
def test_vector_estimates_recover_scale_and_nu(q):
    rng = np.random.default_rng(q)
    tau = rng.gamma(2.0, 1 / 2.0, size=(20000, 1))  # nu = 4
    r = jnp.asarray(3.0 * rng.normal(size=(20000, q)) / np.sqrt(tau))
    _, state = _converged(student_t(decay=0.0), {"g": r}, 20)
    np.testing.assert_allclose(state.nu["g"], 4, rtol=0.1)
    np.testing.assert_allclose(state.scale["g"], 3, rtol=0.02)


def test_the_estimate_does_not_depend_on_its_start():
    residuals = {"g": jnp.asarray(scipy.stats.t.rvs(3, size=500, random_state=2))[:, None]}
    ends = [_converged(student_t(start_nu=v, decay=0.5), residuals, 200)[1] for v in (0.5, 4.0, 100.0)]
    for state in ends[1:]:
        np.testing.assert_allclose(state.nu["g"], ends[0].nu["g"], rtol=1e-6)


def test_lighter_tails_than_gaussian_are_least_squares_exactly():
    weights, state = _updated(student_t(), {"g": jnp.linspace(-1.0, 1.0, 101)[:, None]}, 3)
    assert float(state.nu["g"]) == NU_MAX
    np.testing.assert_array_equal(weights["g"], 1.0)


def test_fixed_nu_is_held_and_tends_to_least_squares():
    residuals = {"g": _normal((200, 1))}
    previous = np.inf
    for nu in (1.0, 1e2, 1e4, 1e8):
        weights, state = _updated(student_t(fixed_nu=nu), residuals, 3)
        assert float(state.nu["g"]) == nu
        gap = np.max(np.abs(weights["g"] - 1))
        assert gap < previous
        previous = gap
    assert previous < 1e-6


def test_outliers_lose_their_pull_and_are_reported():
    clean = 0.1 * _normal((900, 1))
    bad = 2 + jnp.abs(_normal((100, 1), 1))
    weights, state = _updated(student_t(), {"data": jnp.concatenate([clean, bad]), "pde": clean}, 20)
    assert np.max(weights["data"][900:]) < 0.05 * np.min(weights["data"][:900])
    assert 0.1 <= float(state.dropped["data"]) < 0.4 and float(state.dropped["pde"]) < 0.01
    # a weight below a fifth of the largest possible one means |r| > 2 s sqrt(nu)
    far = 2 * float(state.scale["data"]) * np.sqrt(float(state.nu["data"]))
    np.testing.assert_allclose(state.dropped["data"], np.mean(np.abs(jnp.concatenate([clean, bad])) > far), rtol=1e-12)
    assert float(state.nu["data"]) < 2 < float(state.nu["pde"])
    assert 0.05 < float(state.scale["data"]) < 0.15


@settings(deadline=None, max_examples=25)
@given(st.floats(1e-150, 1e150), st.integers(0, 10))
def test_weights_do_not_depend_on_the_unit_of_the_residual(unit, seed):
    r = jnp.asarray(np.random.default_rng(seed).standard_t(2, size=(40, 2)))
    for weighting in (student_t(), student_t(fixed_nu=3.0), huber(), student_t(ratio_cap=1e6)):
        plain, state = _updated(weighting, {"g": r}, 3)
        scaled, scaled_state = _updated(weighting, {"g": unit * r}, 3)
        np.testing.assert_allclose(scaled["g"], plain["g"], rtol=1e-8)
        before, after = jax.tree.leaves(state)[-1], jax.tree.leaves(scaled_state)[-1]
        assert np.isfinite(before) and np.isfinite(after)


def test_running_scale_follows_the_stated_mean():
    weighting = student_t(fixed_nu=5.0, decay=0.75)
    small, large = {"g": _normal((300, 1))}, {"g": 16 * _normal((300, 1))}
    _, first = _converged(weighting, small, 200)
    _, alone = _converged(weighting, large, 200)
    _, second = _update(weighting, large, first)
    # log s moves a quarter of the way; the sweeps start from the old scale and come close to the batch's own one
    share = np.log(second.scale["g"] / first.scale["g"]) / np.log(alone.scale["g"] / first.scale["g"])
    np.testing.assert_allclose(share, 0.25, atol=0.01)


def test_group_factors_are_off_by_default_and_capped_when_on():
    residuals = {"a": _normal((400, 1)), "b": 10 * _normal((400, 1), 1), "c": 1e4 * _normal((400, 1), 2)}
    means = {cap: {g: float(jnp.mean(w)) for g, w in _updated(student_t(ratio_cap=cap), residuals)[0].items()}
             for cap in (1.0, 50.0, 1e12)}  # fmt: skip
    for value in means[1.0].values():
        np.testing.assert_allclose(value, 1, rtol=1e-12)
    assert max(means[50.0].values()) / min(means[50.0].values()) <= 50 * (1 + 1e-12)
    _, state = _updated(student_t(ratio_cap=1e12), residuals)
    for g in "bc":
        want = float(state.scale["a"] / state.scale[g]) ** 2
        np.testing.assert_allclose(means[1e12][g] / means[1e12]["a"], want, rtol=1e-9)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"fixed_nu": 4.0, "start_nu": 4.0}, "got both fixed_nu 4.0 and start_nu 4.0"),
        ({"fixed_nu": 0.0}, "fixed_nu 0.0; expected a positive number"),
        ({"fixed_nu": float("nan")}, "fixed_nu nan"),
        ({"fixed_nu": float("inf")}, "fixed_nu inf"),
        ({"start_nu": 0.1}, "start_nu 0.1; expected a number from 0.5 to 100"),
        ({"start_nu": float("nan")}, "start_nu nan"),
        ({"scale_floor": 0.0}, "scale_floor 0.0"),
        ({"ratio_cap": 0.5}, "ratio_cap 0.5"),
        ({"ratio_cap": float("inf")}, "ratio_cap inf"),
        ({"decay": 1.0}, "decay 1.0"),
    ],
)
def test_options_out_of_range_are_refused(options, text):
    with pytest.raises(ValueError, match=text):
        student_t(**options)


# --- Huber and least squares ---------------------------------------------------------------------------------------


def test_huber_weights_are_one_to_the_quantile_and_bounded_beyond():
    r = jnp.arange(1.0, 101.0)[:, None]
    weights, state = _updated(huber(quantile=0.9), {"g": r})
    threshold = np.quantile(np.arange(1.0, 101.0), 0.9)
    want = np.minimum(1, threshold / np.arange(1.0, 101.0))
    np.testing.assert_allclose(weights["g"], want / want.mean(), rtol=1e-12)
    np.testing.assert_allclose(state.threshold["g"], threshold, rtol=1e-12)


def test_huber_refuses_a_quantile_outside_the_unit_interval():
    for quantile in (0.0, 1.0, float("nan")):
        with pytest.raises(ValueError, match="expected a number between 0 and 1"):
            huber(quantile=quantile)


def test_least_squares_weights_are_one():
    weights, _ = _updated(least_squares(), {"g": 1e6 * _normal((7, 2))})
    np.testing.assert_array_equal(weights["g"], np.ones(7))


# --- Contract of every weighting -----------------------------------------------------------------------------------

BATCHES = {
    "zeros": np.zeros((9, 1)),
    "constant": np.full((9, 1), 0.7),
    "tiny": 1e-200 * np.arange(-4.0, 5.0)[:, None],
    "huge": 1e200 * np.arange(-4.0, 5.0)[:, None],
    "mixed": np.repeat([[1e-200], [1.0], [1e200]], 3, axis=0),
    "mostly zero": np.append(np.zeros(7), [1.0, 2.0])[:, None],
    "one point": np.full((1, 1), -3.0),
    "one zero": np.zeros((1, 1)),
    "vectors of zero": np.zeros((5, 2)),
}


@EACH
@pytest.mark.parametrize("kind", BATCHES)
def test_extremes_stay_finite_with_mean_one(name, kind):
    weights, state = _updated(ALL[name](), {"g": jnp.asarray(BATCHES[kind])}, 4)
    assert np.all(np.isfinite(weights["g"])) and np.all(weights["g"] >= 0)
    np.testing.assert_allclose(np.mean(weights["g"]), 1, rtol=1e-9)
    assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(state))


@EACH
def test_a_stretch_of_zeros_is_forgotten(name):
    weighting, zeros, r = ALL[name](), {"g": jnp.zeros((30, 1))}, {"g": _normal((30, 1))}
    late = _update(weighting, r, _update(weighting, zeros, weighting.init(zeros))[1])[0]
    soon = _update(weighting, r, weighting.init(r))[0]
    np.testing.assert_allclose(late["g"], soon["g"], rtol=1e-12)


@EACH
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_state_is_a_stable_carry_for_batches_of_any_size(name, dtype):
    weighting = ALL[name]()
    batches = {"a": _normal((10, 30, 1)).astype(dtype), "b": _normal((10, 7, 3)).astype(dtype)}

    def step(state, residuals):
        weights, state = weighting.update(residuals, state)
        return state, weights

    start = weighting.init({"a": batches["a"][0, :4], "b": batches["b"][0]})
    end, weights = jax.lax.scan(step, start, batches)
    assert jax.tree.map(lambda a: (a.shape, a.dtype), end) == jax.tree.map(lambda a: (a.shape, a.dtype), start)
    for g, n in (("a", 30), ("b", 7)):
        assert weights[g].dtype == dtype and weights[g].shape == (10, n)
        np.testing.assert_allclose(np.mean(weights[g], axis=1), 1, rtol=1e-5)
    assert all(leaf.dtype == dtype for leaf in jax.tree.leaves(end))


@EACH
def test_each_group_keeps_its_own_dtype(name):
    residuals = {"a": _normal((9, 1)).astype(jnp.float32), "b": _normal((9, 1))}
    weights, _ = _updated(ALL[name](), residuals, 2)
    assert weights["a"].dtype == jnp.float32 and weights["b"].dtype == jnp.float64


@EACH
def test_no_derivative_passes_through_the_weights(name):
    weighting, x = ALL[name](), _normal((40,))
    state = weighting.init({"g": x[:, None]})

    def residual(theta):
        return (theta * x + theta**2)[:, None]

    def loss(theta):
        weights, _ = weighting.update({"g": residual(theta)}, state)
        return jnp.sum(weights["g"] * residual(theta)[:, 0] ** 2)

    frozen = weighting.update({"g": residual(1.3)}, state)[0]["g"]
    want = jax.grad(lambda theta: jnp.sum(frozen * residual(theta)[:, 0] ** 2))(1.3)
    np.testing.assert_allclose(jax.jit(jax.grad(loss))(1.3), want, rtol=1e-12)
    leaves = jax.tree.leaves(jax.jit(jax.jacfwd(lambda theta: weighting.update({"g": residual(theta)}, state)))(1.3))
    assert not any(np.any(leaf) for leaf in leaves)


OPTIONS = [
    (lambda v: student_t(fixed_nu=v), 2.0, 7.0),
    (lambda v: student_t(start_nu=v), 2.0, 7.0),
    (lambda v: student_t(decay=v), 0.5, 0.9),
    (lambda v: student_t(scale_floor=v), 1e-3, 1e-8),
    (lambda v: student_t(ratio_cap=v), 1.0, 10.0),
    (lambda v: huber(quantile=v), 0.9, 0.8),
    (lambda v: least_squares(), 0.0, 1.0),
]


@pytest.mark.parametrize(("make", "first", "second"), OPTIONS)
def test_another_option_value_traces_nothing_again(make, first, second):
    traces = []

    @eqx.filter_jit
    def run(weighting, residuals):
        traces.append(None)
        return weighting.update(residuals, weighting.init(residuals))

    for value in (first, second):
        run(make(value), {"g": _normal((20, 1))})
    assert len(traces) == 1


@EACH
def test_every_weighting_is_a_pytree_of_module_level_functions(name):
    weighting = ALL[name]()
    assert isinstance(weighting, Weighting)
    leaves = jax.tree.leaves((ALL[name](), weighting))
    functions = [leaf for leaf in leaves if not eqx.is_array(leaf)]
    assert functions[: len(functions) // 2] == functions[len(functions) // 2 :]


@pytest.mark.parametrize("name", sorted(ALL.keys() - {"least-squares"}))  # which never looks at the residuals
def test_nonfinite_residuals_give_nonfinite_weights(name):
    weighting, r = ALL[name](), _normal((20, 1))
    _, state = _updated(weighting, {"g": r}, 2)
    for bad in (jnp.nan, jnp.inf, -jnp.inf):
        weights, _ = _update(weighting, {"g": r.at[3, 0].set(bad)}, state)
        assert not np.any(np.isfinite(weights["g"]))


def test_student_t_state_survives_nonfinite_residuals():
    r = _normal((20, 1))
    _, state = _updated(student_t(), {"g": r}, 2)
    for bad in (jnp.nan, jnp.inf):
        _, after = _update(student_t(), {"g": r.at[3, 0].set(bad)}, state)
        assert eqx.tree_equal(after, state)


@EACH
def test_an_empty_group_is_named(name):
    weighting = ALL[name]()
    with pytest.raises(ValueError, match=r"shape \(0, 1\) in group 'data'"):
        weighting.init({"data": jnp.zeros((0, 1))})


# --- Balancing -----------------------------------------------------------------------------------------------------


def _scalars(*values, dtype=float):
    return {name: jnp.asarray(v, dtype) for name, v in zip("abc", values, strict=False)}


def _values(scalars):
    return [float(v) for v in scalars.values()]


def test_u19_two_rules_and_the_moving_average():
    # PredictiveIntelligenceLab/jaxpi issue 36
    norms = _scalars(1.0, 3.0)
    np.testing.assert_allclose(_values(sum_rule(norms)), [4, 4 / 3], rtol=1e-12)
    np.testing.assert_allclose(_values(mean_rule(norms)), [2, 2 / 3], rtol=1e-12)
    moved = smooth(_scalars(1.0, 1.0), mean_rule(norms), 0.9)
    np.testing.assert_allclose(_values(moved), [1.1, 0.9 + 0.1 * 2 / 3], rtol=1e-12)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.floats(1e-3, 1e3), min_size=3, max_size=3), st.floats(1e-200, 1e200))
def test_rules_equalise_factor_times_norm_in_any_unit(norms, unit):
    norms = np.asarray(norms)
    scaled = _scalars(*(unit * norms))
    for rule, total in ((mean_rule, norms.mean()), (sum_rule, norms.sum())):
        np.testing.assert_allclose(np.asarray(_values(rule(scaled))) * norms, total, rtol=1e-9)


@pytest.mark.parametrize("rule", [mean_rule, sum_rule])
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
@pytest.mark.parametrize("norms", [(0.0, 1.0), (0.0, 0.0), (0.0, 1e30), (1e30, 2e30)])
def test_zero_and_huge_norms_give_finite_positive_factors(rule, dtype, norms):
    factors = rule(_scalars(*norms, dtype=dtype))
    assert all(np.isfinite(v) and v > 0 for v in _values(factors))
    assert all(v.dtype == dtype for v in factors.values())
    assert all(v.dtype == dtype for v in smooth(factors, factors, 0.9).values())
    if norms == (0.0, 0.0):
        np.testing.assert_allclose(_values(factors)[0], _values(factors)[1], rtol=1e-6)


@pytest.mark.parametrize("rule", [mean_rule, sum_rule])
def test_no_derivative_passes_through_a_rule(rule):
    gradient = jax.grad(lambda v: sum(rule({"a": v, "b": 3 * v**2}).values()))(2.0)
    assert float(gradient) == 0
