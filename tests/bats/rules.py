#!/usr/bin/python3
"""Breaks each rule of options that the programs and the pipelines have, and compares what they say with rules.txt.

A rule of a program is in its --help: before the text of an option ("--schema: ..." or "csv, tsv: ..."), or after it ("(not with ...)",
"(required with ...)"); a range is only in the sentence. A pipeline has a kind for each option. Argument: write, to write rules.txt again."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

VALUE = r"[a-z0-9][a-z0-9-]*"
WRONG = ("x", "-9000000000000000", "9000000000000000")
ATOM = rf"--[a-z0-9-]+(?: {VALUE}(?:(?:, | or ){VALUE})*)?"
RULE = rf"{ATOM}(?:(?:, | or ){ATOM})*"
LINE = re.compile(r"  (?:-., |    )--([a-z0-9-]+)(?: (\S+))? +(.*)")


def run(command, arguments):
    return subprocess.run(command.split() + arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=20, close_fds=False)


def atoms(rule):
    """[(name, [value, ...]), ...] of "--a, --b x or y"."""
    found = [(name, re.findall(VALUE, re.sub(r"\bor\b", " ", values))) for name, values in
             re.findall(rf"--([a-z0-9-]+)((?: {VALUE}(?:(?:, | or ){VALUE})*)?)", rule)]
    return found


class Command:
    def __init__(self, name):
        self.name, self.options = name, {}
        page = run(name, ["--help"]).stdout
        usage = re.search(r"\[options\] \[?(\w+(?:\|\w+)+)\b\]?( ?.*)", page)
        self.words = usage[1].split("|") if usage else []
        self.more = usage is not None and usage[2] != ""
        for line in page.splitlines():
            match = LINE.fullmatch(line)
            if not match or match[1] in ("help", "version"):
                continue
            text, only = match[3], []
            words = re.match(rf"({VALUE}(?:, {VALUE})*): ", text)
            if words and self.words and set(words[1].split(", ")) <= set(self.words):
                only, text = words[1].split(", "), text[words.end():]
            needs = re.match(rf"({RULE}(?: and {RULE})*): ", text)
            choices = re.search(rf": ({VALUE}(?:\|{VALUE})+)", text)
            default = re.search(r"\(default ([^()]*)\)$", text)
            needed = []
            for condition in re.findall(r"\(required with ([^)]*)\)", text):
                condition, _, unless = condition.partition(" without ")
                for who, values in atoms(condition) or [("", re.findall(VALUE, condition.replace(" or ", " ")))]:
                    needed += [(who, value, re.findall("--[a-z0-9-]+", unless)) for value in values or [""]]
            self.options[match[1]] = {
                "metavar": match[2], "only": only, "needs": needs[1].split(" and ") if needs else [],
                "excludes": [a for part in re.findall(r"\(not with ([^)]*)\)", text) for a in atoms(part)],
                "choices": choices[1].split("|") if choices else [], "default": default[1] if default else None,
                "required": re.search(r"\(required( without [^)]*)?\)", text), "needed": needed}

    def sample(self, name, value=None):
        option = self.options[name]
        if option["metavar"] is None:
            return ["--" + name]
        values = [value] if value else option["choices"] or ["1", "0.5", "2", "50", "1/2", "tcp://a:1", "x"]
        for value in values:
            if (value != option["default"] or len(values) == 1) and f"--{name}: must be" not in run(self.name, ["--" + name, value, "--no-such-option"]).stderr:
                return ["--" + name, value]
        raise SystemExit(f"{self.name}: no value for --{name}")

    def with_needs(self, name, value=None, without=None):
        """Arguments that give an option and what it needs, but not the rule `without`."""
        given = self.sample(name, value)
        for rule in self.options[name]["needs"]:
            other, values = atoms(rule)[0]
            if rule != without and "--" + other not in given:
                given += self.with_needs(other, values[0] if values else None, rule if name == other else None) \
                    if name not in [a for r in self.options[other]["needs"] for a, _ in atoms(r)] else self.sample(other)
        return given

    def values(self):
        """What is said to values that no number and no choice takes: of a text nothing."""
        for name, option in self.options.items():
            said = []
            for value in WRONG if option["metavar"] else ():
                sentence = run(self.name, [f"--{name}={value}"]).stderr.removeprefix(f"{self.name}: ").rsplit(", got ", 1)[0]
                if sentence.startswith(f"--{name}: must be "):
                    said.append(sentence.removeprefix(f"--{name}: "))
                if not said or "one of" in said[0]:
                    break
            if said:
                yield f"--{name}: " + ", ".join(dict.fromkeys(said))

    def cases(self):
        for name, option in self.options.items():
            if option["required"]:
                yield self.complete([], name), f"--{name}"
            for rule in option["needs"]:
                yield self.with_needs(name, without=rule) + self.others(rule), f"--{name} needs {rule}"
            for other, values in option["excludes"]:
                for value in values or [None]:
                    yield self.sample(name) + self.sample(other, value), \
                        f"--{name} and --{other}{' ' + value if value else ''} exclude each other"
            for who, value, unless in option["needed"]:
                others = [f"--{name}"] + unless
                given = self.complete(self.with_needs(who, value) if who else [], name) + (self.operands(value) if not who else [])
                for beside, its in self.options.items():
                    if beside != name and (who, value) in [(w, v) for w, v, _ in its["needed"]] and "--" + beside not in given:
                        given = self.sample(beside) + given
                yield given, f"{f'--{who} {value}'.rstrip() if who else value} needs " + " or ".join(", ".join(others).rsplit(", ", 1))
            for word in self.words if option["only"] else []:
                if word not in option["only"]:
                    words = " and ".join(", ".join(option["only"]).rsplit(", ", 1))
                    yield self.complete(self.with_needs(name), name) + self.operands(word), f"--{name} is for {words}"

    def others(self, rule):
        """Arguments that choose something else, where a rule holds by default."""
        return [word for name, values in atoms(rule) if self.options[name]["default"] in values
                for word in self.sample(name, next(c for c in self.options[name]["choices"] if c not in values))]

    def operands(self, word):
        return [word] + ["x"] * self.more + ["y"] * (word in ("idx", "npy"))

    def complete(self, given, name):
        """Adds the required options that may be beside an option, but not the option."""
        for other, option in self.options.items():
            apart = {a for a, _ in option["excludes"] + self.options[name]["excludes"]}
            instead = re.findall("--[a-z0-9-]+", option["required"][0]) if option["required"] else []
            if option["required"] and "--" + other not in given and not apart & {name, other} and other != name and not set(instead) & set(given):
                given = given + self.sample(other)
        return given


def programs():
    """{(command, sentence), ...}"""
    names = [f"dp-account {word}" for word in re.findall(r"^  ([a-z]+) +[A-Z]", run("dp-account", ["--help"]).stdout, re.M)]
    names += ["dp-table print", "dp-table plan", "dp-rows draw", "dp-rows plan"] + sorted(program.name for program in (BUILD / "bin").glob("dp-*"))
    found, failed = set(), []
    for command in map(Command, names):
        found |= {(command.name, sentence) for sentence in command.values()}
        for arguments, sentence in command.cases():
            answer = run(command.name, arguments)
            found.add((command.name, answer.stderr.strip().removeprefix(f"{command.name}: ")))
            if answer.returncode != 2 or not answer.stderr.startswith(f"{command.name}: {sentence}"):
                failed.append(f"{command.name} {' '.join(arguments)}\n  expected: {sentence}\n  got {answer.returncode}: {answer.stderr.strip()}")
    if failed:
        sys.exit("\n".join(failed))
    return found


def pipelines():
    found = set()
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(ROOT / "pipelines", copy, dirs_exist_ok=True)
        os.rename(f"{copy}/options.sh", f"{copy}/all-options.sh")
        shutil.copy(HERE / "rules.bash", f"{copy}/options.sh")
        for script in sorted(pathlib.Path(copy).glob("*.sh")):
            if re.search(r'^(options|parse) "\$@"$', script.read_text(), re.M) and not script.name.startswith(("options", "all-options")):
                said = run(str(script), []).stderr.splitlines()
                found |= {(script.name, line.removeprefix(f"{script.name}: ").removesuffix(", got 'x'")) for line in said}
    return found


HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / os.environ.get("BUILD", "build")
os.environ["PATH"] = f"{BUILD}/bin:{os.environ['PATH']}"
listed = HERE / "rules.txt"
rules = programs() | pipelines()
if sys.argv[1:] == ["write"]:
    sentences = sorted({sentence for _, sentence in rules})
    listed.write_text("".join(f"{sentence} @ {' '.join(sorted(c.replace(' ', '_') for c, s in rules if s == sentence))}\n" for sentence in sentences))
known = set()
for line in listed.read_text().splitlines():
    sentence, commands = line.split(" @ ")
    known |= {(command.replace("_", " "), sentence) for command in commands.split()}
for command, sentence in sorted(known - rules):
    print(f"nothing says it any more: {command}: {sentence}")
for command, sentence in sorted(rules - known):
    print(f"not in rules.txt: {command}: {sentence}")
print(f"{len(rules)} rules")
sys.exit(known != rules)
