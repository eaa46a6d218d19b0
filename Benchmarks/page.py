"""Writes a page with the newest result of each case."""

import json
import os

INTRODUCTION = """# All cases of `make bench`

`make bench` writes this page. dlm and its peers do the same work in turn (A B C, A B C, ...). They download from nginx
with two workers over the loopback interface, from a memory file system to a memory file system. Every downloaded file
is compared with the server's file, outside the measured time. The tables show the median, and in brackets the minimum
and the maximum. One round before the others is not counted. "CPU" is the user and system time of the tool; the server's
CPU has its own column. "peak" is the largest resident memory of the tool. Compare only figures of the same table,
because other work on the machine changes them all; the load average shows such work. A case that was not measured again
keeps its figures, with their date and commit.
"""


def write(results, order, facts, path):
    """Writes the page. `results` has the results by the names of their cases, and `order` the names in the order of the page."""
    ordered = [results[name] for name in order if name in results]
    parts = [INTRODUCTION, _machine(facts), _targets(row for result in ordered for row in _target_rows(result))]
    with open(path + ".new", "w") as file:
        file.write("\n".join(parts + [_section(result) for result in ordered]))
    os.replace(path + ".new", path)


def load(folder):
    """Returns the saved results by the name of their case."""
    results = {}
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        if name.endswith(".json"):
            with open(os.path.join(folder, name)) as file:
                results[name[:-5]] = json.load(file)
    return results


def _machine(facts):
    return "## On what\n\n" + "\n".join(f"- {what}: {which}" for what, which in facts) + "\n"


def _targets(rows):
    return "\n".join(["## Targets", "", "| case | figure | measured | target | |", "|---|---|---|---|---|", *rows]) + "\n"


def _target_rows(result):
    rows = []
    for target in result["targets"]:
        bound = "at least" if target["at_least"] else "at most"
        rows.append(
            f"| [{result['case']}](#{result['case']}) | {target['what']} | {number(target['value'])}{_unit(target)} "
            f"| {bound} {number(target['limit'])}{_unit(target)} | {'met' if target['met'] else '**not met**'} |")
    return rows


def _unit(target):
    return " " + target["unit"] if target["unit"] else ""


def number(value):
    """Returns the number as text, with three significant digits, or with all digits before the point."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value < 1 else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def _spread(figure, factor=1):
    low, high = figure["min"] * factor, figure["max"] * factor
    return f"{number(figure['median'] * factor)} ({number(low)}-{number(high)})"


def _section(result):
    stamp = result["stamp"]
    scaled = "" if stamp["scale"] == 1 else f", at {stamp['scale']} of the full size"
    lines = [f"## {result['case']}", "", f"{result['title']}. {result['about']}".strip(), ""]
    lines += _table(result["rows"], result["extra"]) if result["rows"] else []
    lines += [f"- {line}" for line in result["figures"]]
    if result["figures"]:
        lines.append("")
    lines += [_target_line(target) for target in result["targets"]]
    lines += [f"- {line}" for line in result.get("floors", [])]
    if result["targets"]:
        lines.append("")
    for remark in result["remarks"]:
        lines += [remark, ""]
    rounds = f"{stamp['rounds']} round{'' if stamp['rounds'] == 1 else 's'}"
    before, after = stamp["load"]
    lines += [f"Measured {stamp['date']} UTC at {stamp['commit']}, {rounds}, load average {before:.1f} before and {after:.1f} "
              f"after{scaled}.", ""]
    if result["commands"]:
        lines += ["```", *[command for _, command in result["commands"]], "```", ""]
    return "\n".join(lines)


def _target_line(target):
    bound = "at least" if target["at_least"] else "at most"
    return (f"- {target['what']}: {number(target['value'])}{_unit(target)}, target {bound} "
            f"{number(target['limit'])}{_unit(target)}: {'met' if target['met'] else '**not met**'}")


def _table(rows, extra):
    """Returns a table with a line for each contestant and its ratio to the fastest peer.

    Times are in milliseconds if all runs are short, else in seconds."""
    measured = [row for row in rows if "wall" in row]
    peers = [row for row in measured if row["kind"] == "peer"]
    fastest = min((row["wall"]["median"] for row in peers), default=None)
    short = bool(measured) and max(row["wall"]["median"] for row in measured) < 0.5
    unit, factor = ("ms", 1000) if short else ("s", 1)
    served = any(row.get("server", {}).get("median") for row in measured)
    heads = ["", f"wall {unit}", f"CPU {unit}", *([f"server's CPU {unit}"] if served else []), "peak MiB", "switches",
             *([extra] if extra else []), "wall / fastest peer"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for row in rows:
        if "wall" not in row:
            cells = [row["name"], row["failure"] or "not run"] + [""] * (len(heads) - 2)
        else:
            cells = [row["name"], _spread(row["wall"], factor), _spread(row["cpu"], factor),
                     *([number(row["server"]["median"] * factor)] if served else []), number(row["peak"]["median"]),
                     f"{row['switches']['median']:,.0f}", *([_spread(row["extra"])] if extra else []),
                     number(row["wall"]["median"] / fastest) if fastest else ""]
        lines.append("| " + " | ".join(cells) + " |")
    broken = [f"- {row['name']}: {row['failed']} of its runs failed and do not count ({row['failure']})"
              for row in rows if row["failed"] and "wall" in row]
    return lines + [""] + (broken + [""] if broken else [])
