"""``oneclass mcp``: an agent's client, in the same process and over standard input and output."""

import asyncio
import json
import os
import sys

import numpy as np
import pandas as pd
import pytest

import oneclass

pytest.importorskip("mcp")
from mcp import Client, StdioServerParameters

from oneclass.serve.mcp import server_of
from oneclass.serve.root import Root

TOOLS = {"files", "describe", "screen", "fit", "score", "explain", "report"}


def table(n, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"part": [f"p{seed}-{i}" for i in range(n)], "grams": rng.normal(1500, 50, n).round(1),
                         "town": rng.choice(["Bonn", "Graz"], n)})  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "root"
    (folder / "sub").mkdir(parents=True)
    table(200, 0).to_csv(folder / "normal.csv", index=False)
    odd = table(40, 1)
    odd.loc[7, "grams"] = 9000.0
    odd.to_csv(folder / "sub" / "new.csv", index=False)
    (tmp_path / "outside.csv").write_text("a\n1\n2\n")
    (folder / "link.csv").symlink_to(tmp_path / "outside.csv")
    (folder / "away").symlink_to(tmp_path)
    return folder


def asked(server, *calls):
    """The results of calls of tools, in one session."""

    async def ask():
        async with Client(server) as client:
            return [await client.call_tool(name, arguments) for name, arguments in calls]

    return asyncio.run(ask())


def content(result):
    assert not result.is_error, result.content[0].text
    return result.structured_content


def test_an_agent_scores_with_a_model_of_segments(folder):
    model = oneclass.TableDetector(columns={"part": "drop"}).fit(table(200, 0), segments="town")
    model.save(folder / "model.oneclass")
    (result,) = asked(server_of(str(folder)), ("score", {"model": "model.oneclass", "table": "sub/new.csv"}))
    new, found = pd.read_csv(folder / "sub" / "new.csv"), content(result)
    worst = found["listed"][0]
    assert (worst["row"], worst["segment"]) == (8, new["town"][7])
    assert worst["p_value"] == pytest.approx(model.p_value(new)[7])
    assert "Each segment has its own threshold" in " ".join(found["caveats"])


def test_an_agent_screens_fits_scores_explains_and_reports(folder):
    results = asked(
        server_of(str(folder)),
        ("files", {}),
        ("screen", {"table": "sub/new.csv"}),
        ("fit", {"table": "normal.csv", "model": "parts.oneclass", "delta": 0.02}),
        ("describe", {"model": "parts.oneclass"}),
        ("score", {"model": "parts.oneclass", "table": "sub/new.csv", "output": "scored.csv", "delta": 0.001}),
        ("explain", {"model": "parts.oneclass", "table": "sub/new.csv", "row": 8}),
        ("report", {"model": "parts.oneclass", "table": "sub/new.csv", "output": "report.html"}),
    )
    files, screened, fitted, described, scored, explained, reported = map(content, results)
    assert {file["name"] for file in files["files"]} == {"normal.csv", "sub/new.csv"}
    assert screened["listed"][0]["row"] == 8
    assert {column["name"]: column["kind"] for column in fitted["columns"]}["town"] == "category"
    assert described["held_out"] == 200
    model, new = oneclass.load(folder / "parts.oneclass"), pd.read_csv(folder / "sub" / "new.csv")
    with pytest.warns(oneclass.UnreachableRateWarning):
        found = model.score_table(new, delta=0.001)
    assert scored["outliers"] == (found["label"] == -1).sum()
    assert scored["listed"][0]["row"] == 8
    assert scored["listed"][0]["p_value"] == found["p_value"][7]
    assert scored["listed"][0]["reasons"][0]["column"] == "grams"
    written = pd.read_csv(folder / "scored.csv")
    assert written["part"].tolist() == new["part"].tolist()
    np.testing.assert_array_equal(written["score"], found["score"])
    assert explained["reasons"][0]["expected"] == pytest.approx(1500, abs=200)
    assert "grams" in reported["report"]
    assert (folder / "report.html").read_text().startswith("<!doctype html>")
    assert any("smallest possible p-value is 0.00498, from 200 held-out rows" in text for text in scored["caveats"])
    assert any("95 % confidence" in text for text in scored["caveats"])
    assert any("below 1/(n+1)" in text for text in scored["caveats"])
    assert any("'part'" in text for text in fitted["caveats"])


@pytest.mark.parametrize(
    "name", ["../outside.csv", "/etc/passwd", "link.csv", "away/outside.csv", "sub/../../outside.csv", "", "a\0b", "."]
)
def test_names_that_lead_out_of_the_folder_are_refused(folder, name):
    root = Root(str(folder))
    for use in (root.file, root.table, root.new):
        with pytest.raises((PermissionError, ValueError)):
            use(name)
    (refused,) = asked(server_of(str(folder)), ("screen", {"table": name}))
    assert refused.is_error
    assert "root:" not in refused.content[0].text


def test_no_file_is_overwritten(folder):
    before = (folder / "normal.csv").read_bytes()
    calls = [("fit", {"table": "normal.csv", "model": "normal.csv"}), ("fit", {"table": "normal.csv", "model": "m"})]
    calls += [("score", {"model": "m", "table": "normal.csv", "output": "normal.csv"})]
    calls += [("report", {"model": "m", "table": "normal.csv", "output": name}) for name in ("m", "sub/none/r.md")]
    calls += [("fit", {"table": "normal.csv", "model": "m"})]
    results = asked(server_of(str(folder)), *calls)
    assert [result.is_error for result in results] == [True, False, True, True, True, True]
    assert (folder / "normal.csv").read_bytes() == before


def test_refusals_are_one_sentence_and_no_trace(folder):
    (folder / "bad.csv").write_text("a,b\n1,2\n3\n")
    os.mkfifo(folder / "pipe")
    for call in (
        ("screen", {"table": "none.csv"}),
        ("screen", {"table": "bad.csv"}),
        ("screen", {"table": "pipe"}),
        ("screen", {"table": "normal.csv", "q": 2}),
        ("screen", {"table": "normal.csv", "limit": -1}),
        ("fit", {"table": "normal.csv", "model": "m", "method": "none"}),
        ("fit", {"table": "normal.csv", "model": "m", "delta": 7}),
        ("score", {"model": "normal.csv", "table": "normal.csv"}),
    ):
        (result,) = asked(server_of(str(folder)), call)
        text = result.content[0].text
        assert result.is_error, call
        assert "Traceback" not in text
        assert len(text.removeprefix(f"Error executing tool {call[0]}")) > 10, call


def test_large_tables_are_refused(folder, monkeypatch):
    monkeypatch.setattr("oneclass.serve.root._MAX_BYTES", 100)
    with pytest.raises(ValueError, match="at most 100 bytes"):
        Root(str(folder)).table("normal.csv")


def test_the_command_talks_over_standard_input_and_output(folder):
    command = StdioServerParameters(command=sys.executable, args=["-m", "oneclass", "mcp", "--root", str(folder)],
                                    env=dict(os.environ))  # fmt: skip

    async def ask():
        async with Client(command) as client:
            tools = await client.list_tools()
            return tools, await client.call_tool("screen", {"table": "sub/new.csv"})

    tools, screened = asyncio.run(ask())
    assert {tool.name for tool in tools.tools} == TOOLS
    assert all(tool.description for tool in tools.tools)
    assert content(screened)["listed"][0]["row"] == 8
    assert json.loads(screened.content[0].text) == content(screened)
