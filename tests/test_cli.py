"""The command line as a user runs it: statuses, JSON, run folders, killed and resumed runs, bad input."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pdes
import sciml
from sciml.__main__ import main
from sciml.report.run import locked
from sciml.report.store import load_tree, save_tree

KEYS = {
    *("problem", "method", "weights", "seed", "dtype", "relative_l2", "reference_floor", "seconds"),
    *("compile_seconds", "steps", "parameters", "result", "out"),
}
SMALL = ["--method", "gauss-newton", "--no-x64"]


@pytest.fixture(autouse=True)
def _float64_again():
    yield
    jax.config.update("jax_enable_x64", True)


def command(*arguments, cwd=None, **kw):
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    return subprocess.Popen(
        [sys.executable, "-m", "sciml", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=cwd,
        **kw,
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A finished run in a process of its own: its folder, its JSON object, and all it printed."""
    folder = tmp_path_factory.mktemp("runs") / "heat"
    process = command("solve", "heat", "--diffusivity", "0.2", "--steps", "2", "--out", str(folder), "--json")
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return folder, json.loads(out), out, err


def test_solve_prints_one_json_object_with_the_promised_keys(run):
    folder, found, out, err = run
    assert out.count("\n") == 1 and found.keys() >= KEYS
    assert found["problem"] == "heat" and found["method"] == "features" and found["steps"] == 2
    assert found["problem_parameters"] == {"diffusivity": 0.2}
    assert found["dtype"] == "float64" and found["result"] == "budget_spent" and found["out"] == str(folder)
    assert 0 < found["relative_l2"] < 1 and found["seconds"] > found["compile_seconds"] > 0
    assert "step" in err


def test_the_folder_holds_everything_and_loads_back_as_a_field(run):
    folder, found, *_ = run
    names = {p.name for p in folder.iterdir()}
    assert names == {
        *("config.json", "versions.json", "metrics.csv", "checkpoint.npz", "solution.npz"),
        *("summary.json", "solution.png", "convergence.png"),
    }
    field = sciml.load(folder, pdes.make)
    reference = pdes.make("heat", diffusivity=0.2).reference()
    gap = jnp.linalg.norm(jax.vmap(field)(reference.points) - reference.values) / jnp.linalg.norm(reference.values)
    np.testing.assert_allclose(gap, found["relative_l2"], rtol=1e-2)  # the error is 1e-11: its own rounding shows
    for picture in ("solution.png", "convergence.png"):
        assert (folder / picture).read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    versions = json.loads((folder / "versions.json").read_text())
    assert versions["float_bits"] == 64 and versions["jax"] == jax.__version__


def test_show_prints_the_run_and_draws_it_again(run, capsys):
    folder, found, *_ = run
    (folder / "solution.png").unlink()
    assert main(["show", str(folder)]) == 0
    assert f"{found['relative_l2']:.3g}" in capsys.readouterr().out
    assert (folder / "solution.png").exists()


def test_a_finished_folder_is_not_overwritten_and_other_settings_are_refused(run, capsys):
    folder, *_ = run
    for arguments, message in [
        (["solve", "heat", "--out", str(folder)], "holds a run already"),
        (["solve", "wave", "--resume", str(folder)], "a run of heat; expected a run of wave"),
        (["solve", "heat", "--diffusivity", "0.4", "--resume", str(folder)], "expected {'diffusivity': 0.4}"),
        (["solve", "heat", "--seed", "3", "--resume", str(folder)], "seed = 0; expected 3"),
        (["solve", "heat", "--weights", "student-t", "--resume", str(folder)], "weights = least-squares"),
    ]:
        assert main(arguments) == 3
        assert message in capsys.readouterr().err


def test_damaged_run_folders_are_one_sentence(run, tmp_path, capsys):
    folder, *_ = run
    for i, (file, text, message) in enumerate(
        [
            ("config.json", "{", "config.json cannot be read"),
            ("config.json", '{"format": 1, "problem": "heat"}', "parameters = None; expected dict"),
            ("checkpoint.npz", "PK", "cannot be read as a saved tree"),
            ("summary.json", "{}", "summary.json lacks problem"),
            ("summary.json", None, "an unfinished run"),
            ("metrics.csv", "a,b\n1,2\n", "not the metrics file"),
        ]
    ):
        copy = tmp_path / str(i)
        shutil.copytree(folder, copy)
        (copy / file).unlink() if text is None else (copy / file).write_text(text)
        resumes = file in ("checkpoint.npz", "metrics.csv", "config.json")
        arguments = ["solve", "heat", "--resume", str(copy), "--steps", "3"] if resumes else ["show", str(copy)]
        assert main(arguments) == 3
        captured = capsys.readouterr()
        assert message in captured.err and "Traceback" not in captured.err


@pytest.mark.parametrize("method", ["gauss-newton", "adam"])
def test_killed_and_resumed_equals_unbroken(tmp_path, method):
    steps = {"gauss-newton": "15", "adam": "300"}[method]
    arguments = ["solve", "poisson", "--method", method, "--steps", steps, "--json"]
    whole = command(*arguments, "--out", "whole", cwd=tmp_path)
    broken = command(*arguments, "--out", "broken", cwd=tmp_path)
    checkpoint = tmp_path / "broken" / "checkpoint.npz"
    while not checkpoint.exists() and broken.poll() is None:
        time.sleep(0.05)
    time.sleep(float(np.random.default_rng().uniform(0, 2)))
    broken.send_signal(signal.SIGKILL)
    broken.communicate()
    assert not list((tmp_path / "broken").glob("summary.json"))
    resumed = command("solve", "poisson", "--method", method, "--resume", "broken", "--json", cwd=tmp_path)
    out, err = resumed.communicate(timeout=600)
    whole.communicate(timeout=600)
    assert resumed.returncode == 0, err
    assert json.loads(out)["steps"] == int(steps)
    with np.load(tmp_path / "whole" / "checkpoint.npz") as a, np.load(tmp_path / "broken" / "checkpoint.npz") as b:
        assert {n for n in a if n != "header.json"} == {n for n in b if n != "header.json"}
        for name in (n for n in a if n != "header.json"):
            np.testing.assert_array_equal(a[name], b[name])
    columns = [
        [
            line.split(",")[:1] + line.split(",")[3:]
            for line in (tmp_path / name / "metrics.csv").read_text().split("\n")[:-1]
        ]
        for name in ("whole", "broken")
    ]
    assert columns[0] == columns[1]


BAD = [
    (["solve", "poison"], "unknown problem 'poison' (did you mean poisson?)"),
    (["solve"], "no problem"),
    (["frobnicate"], "unknown command 'frobnicate'"),
    (["solve", "burgers", "--viscosity", "-0.1"], "viscosity = -0.1; expected a positive number"),
    (["solve", "burgers", "--viscosity", "nan"], "--viscosity nan; expected a number"),
    (["solve", "burgers", "--velocity", "1"], "unknown option --velocity"),
    (["solve", "burgers", "--method", "newton"], "unknown method 'newton'"),
    (["solve", "burgers", "--weights", "cauchy"], "unknown weighting 'cauchy'"),
    (["solve", "poisson", "--target", "1e-9", "--no-x64"], "which float32 cannot reach"),
    (["solve", "poisson", "--target", "0"], "target = 0.0; expected a positive finite number"),
    (["solve", "poisson", "--steps", "-5"], "steps = -5"),
    (["solve", "poisson", "--steps", "1.5"], "could not read its arguments '--steps 1.5"),
    (["solve", "poisson", "--seconds", "soon"], "--seconds soon; expected a number"),
    (["solve", "poisson", "--out", "/proc/nowhere"], "cannot be written"),
    (["solve", "poisson", "--resume", "/"], "is not a run folder"),
    (["show", "/"], "is not a run folder"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[" ".join(a) for a, _ in BAD])
def test_bad_input_is_one_sentence_and_status_three(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 3
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.startswith("error: ") and captured.err.count("\n") == 1
    assert message in captured.err
    assert main([*arguments, "--json"]) == 3
    assert message in json.loads(capsys.readouterr().out)["error"]
    assert not list(tmp_path.iterdir())


def test_missing_the_target_is_status_one(tmp_path, capsys):
    status = main(["solve", "convection", "--target", "1e-12", "--steps", "1", "--out", str(tmp_path / "a"), "--json"])
    assert status == 1
    assert json.loads(capsys.readouterr().out)["result"] == "budget_spent"


def test_list_names_every_problem_with_its_floor(capsys):
    assert main(["list", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [p["name"] for p in found["problems"]] == list(pdes.ALL)
    assert all(0 < p["reference_floor"] < 1e-5 for p in found["problems"])
    assert {"auto", "features", "gauss-newton", "adam"} <= set(found["methods"])
    assert {"least-squares", "student-t"} <= set(found["weightings"])


def test_check_passes_and_states_the_float_width(capsys):
    assert main(["check", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["passed"] and len(found["checks"]) >= 4
    assert found["environment"]["float_bits"] == 64 and found["environment"]["jax"] == jax.__version__
    assert main(["check", "--no-x64", "--json"]) == 1
    assert not json.loads(capsys.readouterr().out)["passed"]


def test_help_and_usage(capsys):
    assert main(["--help"]) == 0
    assert "solve" in capsys.readouterr().out
    assert main([]) == 3
    with pytest.raises(SystemExit) as stop:
        main(["solve", "burgers", "--help"])
    assert stop.value.code == 0
    assert "--viscosity" in capsys.readouterr().out


def test_two_runs_in_one_folder(tmp_path):
    with locked(tmp_path), pytest.raises(ValueError, match="another run is at work"), locked(tmp_path):
        pass
    (tmp_path / "lock").write_text("999999999")  # the lock of a process that is gone
    with locked(tmp_path):
        pass


def test_asking_for_float64_too_late_warns():
    kept = jnp.ones(3, jnp.float32)
    with pytest.warns(UserWarning, match="float64 was asked for after"):
        sciml.require_float64()
    del kept


TREE = {"a": jnp.arange(6.0).reshape(2, 3), "b": [jnp.asarray(1), jax.random.key(3)], "c": None, "d": "text"}


def test_saved_trees_come_back_bitwise(tmp_path):
    save_tree(tmp_path / "t.npz", TREE, {"step": 3})
    back = load_tree(tmp_path / "t.npz", TREE)
    assert back["d"] == "text" and back["c"] is None
    np.testing.assert_array_equal(back["a"], TREE["a"])
    assert back["b"][0].dtype == TREE["b"][0].dtype
    np.testing.assert_array_equal(jax.random.key_data(back["b"][1]), jax.random.key_data(TREE["b"][1]))


def test_damaged_files_are_refused_or_read_the_same(tmp_path):
    path = tmp_path / "t.npz"
    save_tree(path, TREE, {})
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for trial in range(300):
        data = bytearray(whole)
        if trial % 3 == 0:
            data = data[: rng.integers(len(data))]
        else:
            for i in rng.integers(len(data), size=trial % 5 + 1):
                data[i] = rng.integers(256)
        path.write_bytes(bytes(data))
        try:
            back = load_tree(path, TREE)
        except ValueError as error:
            assert str(path) in str(error)
        else:  # the damage was in a byte that carries nothing, such as a time stamp
            np.testing.assert_array_equal(back["a"], TREE["a"])


def test_trees_of_another_model_are_refused(tmp_path):
    path = tmp_path / "t.npz"
    save_tree(path, {"a": jnp.ones(3)}, {})
    with pytest.raises(ValueError, match="another model"):
        load_tree(path, {"a": jnp.ones(3), "b": jnp.ones(2)})
    with pytest.raises(ValueError, match="another model or precision"):
        load_tree(path, {"a": jnp.ones(3, jnp.float32)})
