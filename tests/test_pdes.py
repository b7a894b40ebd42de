"""Contracts of every problem in pdes.ALL, and what is known in closed form about single ones."""

import inspect
import itertools
import math
import pickle
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.io
import scipy.special

import pdes
from pdes import _spectral
from pdes._spectral import Equation, computed_reference, etdrk4
from sciml.field import derivative
from sciml.problem import Group, LinearProblem, Role, evaluate, exact_solution, sample

NAMES = list(pdes.ALL)
EXACT = [name for name in NAMES if exact_solution(pdes.make(name)) is not None]
LINEAR = [name for name in NAMES if issubclass(pdes.ALL[name], LinearProblem)]
COMPUTED = [name for name in NAMES if "equation" in vars(pdes.ALL[name])]
FAMILIES = [name for name in NAMES if "sample" in vars(pdes.ALL[name])]
PARAMETERS = [(name, parameter) for name in NAMES for parameter in pdes.parameters(name)]
DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "maziarraissi+PINNs"
KEY = jax.random.key(0)


def doubled(name):
    """The problem with all its parameters twice their defaults."""
    return pdes.make(name, **{k: 2 * p.default for k, p in pdes.parameters(name).items()})


def smooth(problem, seed=0):
    """``sin(a . x + b)`` with its wave vector a and phase b; for several components a has as many rows."""
    rng = np.random.default_rng(seed)
    shape = (len(problem.components), len(problem.domain.names))
    a, b = jnp.asarray(rng.uniform(1, 3, shape if shape[0] > 1 else shape[1:])), float(rng.uniform(0, 6))
    return (lambda x: jnp.sin(a @ x + b)), a, b


@eqx.filter_jit
def residuals_at(problem, u, points):
    return evaluate(problem, u, points)


def relative(values, expected):
    return float(np.linalg.norm(np.asarray(values) - np.asarray(expected)) / np.linalg.norm(np.asarray(expected)))


@pytest.fixture(scope="module")
def references(tmp_path_factory):
    """References by name, each computed once."""
    found = {}

    def reference(name):
        if name not in found:
            found[name] = pdes.make(name).reference()
        return found[name]

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCIML_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield reference


# every problem


@pytest.mark.parametrize("name", NAMES)
def test_groups_regions_and_conditions_fit_together(name):
    problem = pdes.make(name)
    assert set(problem.residuals(smooth(problem)[0])) == set(problem.groups)
    assert {group.region for group in problem.groups.values()} <= set(problem.domain.regions())
    orders = [group.order for group in problem.groups.values() if group.role is Role.INITIAL]
    assert sorted(orders) == list(range(problem.time_order))
    for problem in (pdes.make(name), doubled(name)):
        assert pdes.check(problem).failures == ()


@pytest.mark.parametrize("name", NAMES)
def test_first_docstring_line_is_the_equation(name):
    first = inspect.cleandoc(str(pdes.ALL[name].__doc__)).splitlines()[0]
    assert "=" in first and len(first) <= 120
    assert "Good values: " in str(pdes.ALL[name].__doc__) and "Source: " in str(pdes.ALL[name].__doc__)


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("build", [pdes.make, doubled])
def test_exact_solution_kills_every_residual(name, build):
    problem = build(name)
    points = sample(problem, dict.fromkeys(problem.groups, 200), key=jax.random.key(7))
    exact, other = (residuals_at(problem, u, points) for u in (exact_solution(problem), smooth(problem)[0]))
    for group in problem.groups:
        assert float(jnp.max(jnp.abs(exact[group]))) <= 1e-11 * float(jnp.max(jnp.abs(other[group]))), group


@pytest.mark.parametrize("name", NAMES)
def test_reference_states_a_floor(name, references):
    problem, reference = pdes.make(name), references(name)
    assert 5_000 <= len(reference.points) <= 15_000 and len(reference.values) == len(reference.points)
    assert bool(jnp.all(jnp.isfinite(reference.values)))
    assert 0 < reference.floor <= {"kdv": 1e-10}.get(name, 1e-6) and reference.how
    assert bool(jnp.all(jax.vmap(problem.domain.contains)(reference.points)))


@pytest.mark.parametrize("name", EXACT)
def test_reference_agrees_with_exact(name, references):
    reference = references(name)
    assert relative(jax.jit(jax.vmap(exact_solution(pdes.make(name))))(reference.points), reference.values) <= 1e-14


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_parameters_refuse_non_finite_values(name, parameter, value):
    with pytest.raises(ValueError, match=parameter):
        pdes.make(name, **{parameter: value})


@pytest.mark.parametrize(("name", "parameter"), [p for p in PARAMETERS if p != ("convection", "beta")])
@pytest.mark.parametrize("value", [0.0, -1.0, -1])
def test_parameters_refuse_values_that_make_no_sense(name, parameter, value):
    with pytest.raises(ValueError, match=f"{parameter} = {value}; expected a"):
        pdes.make(name, **{parameter: value})


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS)
def test_parameters_are_single_array_leaves(name, parameter):
    default = pdes.parameters(name)[parameter].default
    built = [pdes.make(name, **{parameter: v}) for v in (default, jnp.asarray(default, float))]
    assert eqx.tree_equal(*built)
    gradient = jax.grad(lambda v: sum(jnp.sum(a) for a in jax.tree.leaves(pdes.make(name, **{parameter: v}))))(default)
    assert float(gradient) == 1.0


@pytest.mark.parametrize("name", NAMES)
def test_other_parameters_do_not_retrace(name):
    first, second = pdes.make(name), doubled(name)
    assert jax.tree.structure(first) == jax.tree.structure(second)
    u, traces = smooth(first)[0], []

    @eqx.filter_jit
    def residuals(problem):
        traces.append(None)
        points = sample(problem, dict.fromkeys(problem.groups, 8), key=KEY)
        return evaluate(problem, u, points)["interior"]

    values = [residuals(problem) for problem in (first, second)]
    assert len(traces) == 1
    assert not bool(jnp.all(values[0] == values[1]))


@pytest.mark.parametrize("name", LINEAR)
def test_linear_problem_is_its_hodge_form(name):
    """Interior residual = d^k u / dt^k + stiffness (-Lap_x u) + mass u - source, on sin(a . x + b)."""
    problem = doubled(name)
    k, form, dimension = problem.time_order, problem.hodge(), len(problem.domain.names)
    mixed = len(problem.components) == dimension + 1  # (flux, scalar), an n-form with its codifferential
    assert form.degree == (dimension if mixed else int(len(problem.components) > 1))
    assert isinstance(form.stiffness, jax.Array) and isinstance(form.mass, jax.Array)
    u, a, b = smooth(problem)
    if mixed:
        a = a[0]
        scalar = lambda x: jnp.sin(a @ x + b)  # noqa: E731
        u = lambda x: jnp.append(-form.stiffness * jnp.cos(a @ x + b) * a, scalar(x))  # noqa: E731
    space, time = (a[:-1], a[-1]) if k else (a, jnp.zeros(()))
    square = jnp.sum(space**2, axis=-1)

    def expected(x):
        phase, source = a @ x + b, problem.source(x)
        rate = time**k * jnp.sin(phase + k * jnp.pi / 2) if k else 0.0
        value = rate + (form.stiffness * square + form.mass) * jnp.sin(phase) - source
        return jnp.append(jnp.zeros(dimension), value) if mixed else value

    points = problem.domain.sample("interior", 100, key=KEY)
    (interior,) = [g for g, group in problem.groups.items() if group.role is Role.EQUATION]
    assert relative(jax.vmap(problem.residuals(u)[interior])(points), jax.vmap(expected)(points)) <= 1e-13
    sides = {g.region for g in problem.groups.values() if g.role is Role.BOUNDARY}
    assert set(form.essential) == (set() if mixed else sides)


@pytest.mark.parametrize("name", FAMILIES)
def test_sample_is_a_family_of_valid_problems(name):
    family = jax.vmap(lambda key: pdes.ALL[name].sample(key=key))(jax.random.split(KEY, 5))
    assert all(leaf.shape[0] == 5 for leaf in jax.tree.leaves(family))
    for i in range(5):
        member = jax.tree.map(lambda leaf, i=i: leaf[i], family)
        assert jax.tree.structure(member) == jax.tree.structure(pdes.make(name))
        values = {p: float(getattr(member, p)) for p in pdes.parameters(name)}
        assert eqx.tree_equal(pdes.make(name, **values), member)
    assert len({float(getattr(family, p)[i]) for p in pdes.parameters(name) for i in range(5)}) > 1


# looking problems up


def test_all_is_the_folder():
    folder = Path(str(pdes.__file__)).parent
    assert sorted(f.stem for f in folder.glob("*.py") if not f.stem.startswith("_")) == NAMES
    assert all(name == name.lower() for name in NAMES)


@pytest.mark.parametrize(("kinds", "ok"), [(["Laplace"], True), (["Laplace", "Second"], False), ([], False)])
def test_adding_a_file_is_enough(kinds, ok, tmp_path, monkeypatch):
    body = "from pdes.poisson import Poisson as Base\nfrom sciml.problem import LinearProblem, Group, Role\n"
    body += "class Abstract(LinearProblem):\n    pass\n"
    for kind in kinds:
        body += f"class {kind}(LinearProblem):\n    '''Δu = 0.'''\n"
        body += "".join(f"    {m} = Base.__dict__['{m}']\n" for m in ("components", "groups", "time_order"))
        body += "".join(
            f"    def {m}(self, *given):\n        raise NotImplementedError\n"
            for m in ("domain", "residuals", "reference", "source", "hodge")
        )
    file = tmp_path / f"added_{len(kinds)}.py"
    file.write_text(body)
    monkeypatch.setattr(pdes, "__path__", [*pdes.__path__, str(tmp_path)])
    if ok:
        assert set(pdes._discover()) == {*NAMES, file.stem}
    else:
        with pytest.raises(ValueError, match=f"pdes.{file.stem}; expected one"):
            pdes._discover()


def test_unknown_problem_names_the_known_and_the_nearest():
    with pytest.raises(
        ValueError, match=r"'burger' .did you mean burgers.*expected one of allen_cahn, burgers, .*wave"
    ):
        pdes.make("burger")


def test_unknown_parameter_names_the_known():
    with pytest.raises(ValueError, match=r"'viscosty' .did you mean viscosity.*expected one of viscosity"):
        pdes.make("burgers", viscosty=1.0)
    with pytest.raises(ValueError, match="parameter of allen_cahn 'speed'; expected one of diffusivity, rate"):
        pdes.make("allen_cahn", speed=1.0)


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("poisson", {"wavenumber": 1.5}, "whole number"),
        ("helmholtz", {"mode_x": 0.5}, "whole number"),
        ("helmholtz", {"kappa": math.pi * math.sqrt(5)}, "resonance"),
        ("burgers", {"viscosity": 1e-6}, "expected 0.0001 to 10"),
        ("burgers", {"viscosity": 100.0}, "expected 0.0001 to 10"),
    ],
)
def test_values_without_a_right_answer_are_refused(name, values, message):
    with pytest.raises(ValueError, match=message):
        pdes.make(name, **values)


def test_helmholtz_away_from_resonance_is_accepted():
    for squared in (1.0, 3.0, 4.0, 5.01):  # 1, 3 and 4 are not sums of two positive squares
        assert float(pdes.make("helmholtz", kappa=math.pi * math.sqrt(squared)).kappa) > 0


def test_wave_names_displacement_and_velocity_apart():
    groups = pdes.make("wave").groups
    assert groups["initial"] == Group("initial", Role.INITIAL, 0)
    assert groups["velocity"] == Group("initial", Role.INITIAL, 1)


# Burgers: closed forms


def cole_series(viscosity, x, t):
    """Cole's Fourier series; it cancels for small viscosities."""
    n = np.arange(1, 200)[:, None]
    a = 1 / (2 * np.pi * viscosity)
    terms = (-1.0) ** n * scipy.special.ive(n, a) * np.exp(-((n * np.pi) ** 2) * viscosity * t)
    below = scipy.special.ive(0, a) + 2 * np.sum(terms * np.cos(n * np.pi * x), axis=0)
    return 4 * np.pi * viscosity * np.sum(n * terms * np.sin(n * np.pi * x), axis=0) / below


@pytest.mark.parametrize("viscosity", [0.1, 1.0, 10.0])
def test_burgers_is_coles_series(viscosity):
    problem = pdes.make("burgers", viscosity=viscosity)
    points = problem.domain.sample("interior", 500, key=KEY)
    assert relative(jax.jit(jax.vmap(problem.exact))(points), cole_series(viscosity, *np.asarray(points).T)) <= 1e-13


@pytest.mark.parametrize("viscosity", [1e-4, 1e-3, 0.01 / math.pi, 0.1, 1.0, 10.0])
def test_burgers_floor_by_doubling_is_rounding(viscosity):
    assert pdes.make("burgers", viscosity=viscosity).reference().floor <= 1e-14


@pytest.mark.parametrize("viscosity", [1e-4, 0.01 / math.pi, 10.0])
def test_burgers_holds_at_the_initial_time(viscosity):
    problem = pdes.make("burgers", viscosity=viscosity)
    points = problem.domain.sample("initial", 200, key=KEY)
    left = residuals_at(problem, problem.exact, {"initial": points, "interior": points})
    size = max(1.0, viscosity * math.pi**2)
    assert float(jnp.max(jnp.abs(left["initial"]))) <= 1e-14 * size
    assert float(jnp.max(jnp.abs(left["interior"]))) <= 1e-6 * size  # half the digits, and finite


def test_burgers_steepest_slope():
    """Basdevant et al. 1986: the slope at x = 0 is steepest at t = 1.6037/pi, with value -152.00516."""
    slope = jax.jit(jax.vmap(lambda t: derivative(pdes.make("burgers").exact, 0)(jnp.stack([jnp.zeros(()), t]))))
    times = jnp.linspace(1.59, 1.62, 3001) / jnp.pi
    values = slope(times)
    assert abs(float(values.min()) + 152.00516) < 1e-5
    assert abs(float(times[jnp.argmin(values)] * jnp.pi) - 1.6037) < 1e-4


@pytest.mark.skipif(not (DATA / "burgers_shock.mat").is_file(), reason="needs burgers_shock.mat")
def test_burgers_matches_published_data():
    table = scipy.io.loadmat(DATA / "burgers_shock.mat")
    x, t = np.meshgrid(table["x"].ravel(), table["t"].ravel(), indexing="ij")
    points = jnp.asarray(np.stack([x, t], -1).reshape(-1, 2))
    values = jax.jit(jax.vmap(pdes.make("burgers").exact))(points)
    assert relative(values, table["usol"].reshape(-1)) <= 1e-10


# computed references


def periodic_burgers(viscosity):
    return Equation(
        symbol=lambda k: -viscosity * k**2,
        nonlinear=lambda u, k: -0.5j * k * np.fft.rfft(u**2),
        initial=lambda x: -np.sin(np.pi * x),
        lower=-1.0,
        upper=1.0,
        end=1.0,
    )


def test_etdrk4_converges_at_order_four_to_cole_hopf():
    problem = pdes.make("burgers", viscosity=0.05)
    x = jnp.linspace(-1, 1, 128, endpoint=False)
    exact = jax.jit(jax.vmap(problem.exact))(jnp.stack([x, jnp.ones_like(x)], axis=1))
    errors = [relative(etdrk4(periodic_burgers(0.05), 128, n, 1)[:, -1], exact) for n in (40, 80, 160, 320)]
    rates = np.log2(np.divide(errors[:-1], errors[1:]))
    assert np.all(np.abs(rates - 4) < 0.3), rates
    assert relative(etdrk4(periodic_burgers(0.05), 128, 5000, 1)[:, -1], exact) < 1e-12


def test_etdrk4_is_exact_without_nonlinearity():
    equation = periodic_burgers(0.1)._replace(nonlinear=lambda u, k: 0 * np.fft.rfft(u))
    values = etdrk4(equation, 16, 3, 3)
    decay = np.exp(-0.1 * np.pi**2 * np.arange(4) / 3)
    assert relative(values, values[:, :1] * decay) < 1e-14


@pytest.mark.parametrize("name", COMPUTED)
def test_reference_solves_the_equation_of_the_residuals(name):
    problem = doubled(name)
    equation, n = problem.equation(), 64
    x, k = _spectral._grid(equation, n)
    points = jnp.stack([jnp.asarray(x), jnp.zeros(n)], axis=1)

    def u(z):
        return jnp.cos(jnp.pi * z[0] + 1) / 2 + jnp.sin(3 * jnp.pi * z[0]) / 4 + 0.1

    held = np.asarray(jax.vmap(u)(points))
    right = np.fft.irfft(equation.symbol(k) * np.fft.rfft(held) + equation.nonlinear(held, k), n)
    assert relative(-jax.vmap(problem.residuals(u)["interior"])(points), right) < 1e-11
    start = -jax.vmap(problem.residuals(lambda z: jnp.zeros(()))["initial"])(points)
    assert relative(equation.initial(x), start) < 1e-14
    assert (equation.lower, equation.upper) == tuple(float(v[0]) for v in (problem.domain.lower, problem.domain.upper))
    assert equation.end == float(problem.domain.upper[-1])


def test_kdv_conserves_mean_and_mean_square():
    u = etdrk4(pdes.make("kdv").equation(), 512, 5000, 50)
    assert np.max(np.abs(u.mean(axis=0))) < 1e-13
    assert np.max(np.abs((u**2).mean(axis=0) - 0.5)) < 1e-9


def test_allen_cahn_settles_at_the_rate_of_its_kink():
    equation = pdes.make("allen_cahn").equation()
    runs = [etdrk4(equation, 256 * f, 100, 1)[::f, -1] for f in (1, 2, 4, 8)]
    changes = [relative(a, b) for a, b in itertools.pairwise(runs)]
    assert np.all(np.divide(changes[:-1], changes[1:]) > 3), changes  # a kink: second order in space
    assert np.all(np.abs(runs[-1]) <= 1)  # maximum principle


def test_kdv_carries_a_soliton():
    """u = 3c sech²(sqrt(c/δ)/2 (x − ct)); here its tail is 1e-13 half a period away."""
    dispersion, speed = 1e-3, 1.0

    def soliton(x, t):
        periods = [x - speed * t - 2 * m for m in (-1, 0, 1)]
        return sum(3 * speed / np.cosh(np.sqrt(speed / dispersion) / 2 * s) ** 2 for s in periods)

    equation = pdes.make("kdv", dispersion=dispersion).equation()._replace(initial=lambda x: soliton(x, 0.0))
    x, _ = _spectral._grid(equation, 256)
    errors = [relative(etdrk4(equation, 256, n, 1)[:, -1], soliton(x, 1.0)) for n in (2000, 4000, 8000)]
    assert np.all(np.log2(np.divide(errors[:-1], errors[1:])) > 3.7), errors
    assert errors[-1] < 1e-8


@pytest.mark.skipif(not (DATA / "KdV.mat").is_file(), reason="needs KdV.mat")
def test_kdv_matches_published_data():
    table = scipy.io.loadmat(DATA / "KdV.mat")
    values = etdrk4(pdes.make("kdv", dispersion=0.0025).equation(), 512, 8000, 200)
    assert relative(values, table["uu"]) < 1e-9


def test_allen_cahn_agrees_with_exponax():
    exponax = pytest.importorskip("exponax")
    equation = pdes.make("allen_cahn", diffusivity=1e-2).equation()._replace(initial=lambda x: np.cos(np.pi * x) / 2)
    n, steps = 256, 400
    stepper = exponax.stepper.reaction.AllenCahn(
        *(1, 2.0, n, 1 / steps),
        diffusivity=1e-2,
        first_order_coefficient=5.0,
        third_order_coefficient=-5.0,
        order=4,
        dealiasing_fraction=1.0,
    )
    start = jnp.asarray(equation.initial(_spectral._grid(equation, n)[0]))[None]
    other = jax.jit(lambda u: jax.lax.fori_loop(0, steps, lambda _, v: stepper(v), u))(start)[0]
    assert relative(etdrk4(equation, n, steps, 1)[:, -1], other) < 1e-11


# the cache of computed references

SMALL = {"modes": 32, "steps": 20, "shape": (16, 5)}


def small(viscosity=0.2):
    return computed_reference("small", periodic_burgers(viscosity), **SMALL)


def never(*given):
    raise AssertionError("computed again")


def test_second_call_reads_the_first(tmp_path, monkeypatch):
    monkeypatch.setenv("SCIML_CACHE", str(tmp_path / "new"))
    first = small()
    assert len(list((tmp_path / "new").iterdir())) == 1
    monkeypatch.setattr(_spectral, "etdrk4", never)
    second = small()
    assert eqx.tree_equal(first, second)


def test_points_and_values_belong_together(tmp_path, monkeypatch):
    monkeypatch.setenv("SCIML_CACHE", str(tmp_path))
    reference, problem = small(), pdes.make("burgers", viscosity=0.2)
    assert relative(jax.jit(jax.vmap(problem.exact))(reference.points), reference.values) <= reference.floor
    assert reference.floor < 1e-3


def test_another_equation_is_not_confused(tmp_path, monkeypatch):
    monkeypatch.setenv("SCIML_CACHE", str(tmp_path))
    equation = periodic_burgers(0.2)
    changed = [
        equation._replace(initial=lambda x: np.sin(np.pi * x)),
        equation._replace(nonlinear=lambda u, k: -0.6j * k * np.fft.rfft(u**2)),
        equation._replace(symbol=lambda k: -0.2 * (1 + 1e-12) * k**2),
        equation._replace(end=0.5),
    ]
    for each in (equation, *changed):
        computed_reference("small", each, **SMALL)
    assert len(list(tmp_path.iterdir())) == 1 + len(changed)


def damage(file: Path, how: str) -> None:
    held = np.load(file)
    values, floor = held["values"], held["floor"]
    held.close()
    whole = file.read_bytes()
    match how:
        case "empty":
            file.write_bytes(b"")
        case "text":
            file.write_text("not an archive")
        case "cut":
            file.write_bytes(whole[: len(whole) // 2])
        case "flipped":
            middle = whole.index(values.tobytes()) + values.nbytes // 2
            file.write_bytes(whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :])
        case "pickle":
            file.write_bytes(pickle.dumps(values))
        case "array":
            with file.open("wb") as opened:
                np.save(opened, values)
        case "objects":
            np.savez(file, values=np.array([{}], dtype=object), floor=floor)
        case "shape":
            np.savez(file, values=values.T, floor=floor)
        case "nan":
            np.savez(file, values=np.full_like(values, np.nan), floor=floor)
        case "no floor":
            np.savez(file, values=values)
        case "zero floor":
            np.savez(file, values=values, floor=0.0)
        case "large":
            np.savez(file, values=values, floor=floor, more=np.zeros(10_000))


@pytest.mark.parametrize(
    "how",
    [
        "empty",
        "text",
        "cut",
        "flipped",
        "pickle",
        "array",
        "objects",
        "shape",
        "nan",
        "no floor",
        "zero floor",
        "large",
    ],
)
def test_a_damaged_file_is_computed_again(how, tmp_path, monkeypatch):
    monkeypatch.setenv("SCIML_CACHE", str(tmp_path))
    first = small()
    (file,) = tmp_path.iterdir()
    good = file.stat().st_size
    damage(file, how)
    assert eqx.tree_equal(first, small())
    assert file.stat().st_size == good and list(tmp_path.iterdir()) == [file]


def test_an_unwritable_folder_means_computing_again(tmp_path, monkeypatch):
    monkeypatch.setenv("SCIML_CACHE", str(tmp_path / "kept"))
    kept = small()
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SCIML_CACHE", str(tmp_path / "file" / "below"))
    assert eqx.tree_equal(kept, small())


def test_cache_folder_follows_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SCIML_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert _spectral._folder() == tmp_path / ".cache" / "sciml"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert _spectral._folder() == tmp_path / "xdg" / "sciml"
    monkeypatch.setenv("SCIML_CACHE", str(tmp_path / "mine"))
    assert _spectral._folder() == tmp_path / "mine"


@pytest.mark.parametrize(("name", "values"), [("allen_cahn", {"rate": 1e4}), ("kdv", {"dispersion": 1e-5})])
def test_a_reference_that_overflows_is_refused(name, values, tmp_path, monkeypatch):
    monkeypatch.setenv("SCIML_CACHE", str(tmp_path))
    with pytest.raises(ValueError, match="outside the good values"):
        pdes.make(name, **values).reference()
    assert list(tmp_path.iterdir()) == []


def test_floor_is_never_below_the_rounding_of_the_values(tmp_path, monkeypatch):
    monkeypatch.setenv("SCIML_CACHE", str(tmp_path))
    equation = periodic_burgers(0.2)._replace(nonlinear=lambda u, k: 0 * np.fft.rfft(u))
    assert computed_reference("small", equation, **SMALL).floor < 1e-14
    with jax.enable_x64(False):
        reference = computed_reference("small", equation, **SMALL)
    assert reference.values.dtype == jnp.float32 and reference.floor >= float(jnp.finfo(jnp.float32).eps)


def test_shapes_that_do_not_divide_are_refused():
    with pytest.raises(ValueError, match="15 points of 32 modes"):
        computed_reference("small", periodic_burgers(0.2), modes=32, steps=20, shape=(15, 5))
    with pytest.raises(ValueError, match="20 steps for 3 intervals"):
        etdrk4(periodic_burgers(0.2), 32, 20, 3)
