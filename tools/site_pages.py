#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Converts the Markdown of the project to the sources of a site: tools/site_pages.py FOLDER [NOTEBOOKS] (tools/site.sh builds the site from them).
NOTEBOOKS is the folder in which tools/notebook_pages.py wrote the notebooks with their output; without it they appear without.

Pages keep their paths, so that relative links remain valid, but for FIRST, which becomes the first page; linked folders become their README.md, and files that belong to
no page (source code) become plain text. A gallery is generated from inputs/*/README.md: first picture, first sentence. Every link
between pages must be valid; faults() lists those that are not.
"""
import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from notebook_pages import cells_of, page_of

ROOT = Path(__file__).resolve().parent.parent
FIRST = "docs/overview.md"  # becomes index.md, the first page of the site
PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/**/*.md", "inputs/**/*.md", "python/**/*.md")
# What stands in the menu, in this order; pages that are not named come under the last heading.
MENU = {
    "Begin": ["README.md", "docs/tutorial.md", "docs/install.md", "gallery.md", "docs/image-formats.md", "docs/open-results.md", "docs/python.md", "python/README.md"],
    "Tasks": ["docs/tasks/permeability.md", "docs/tasks/tracer.md", "docs/tasks/walls.md", "docs/tasks/chemistry.md", "docs/tasks/flow.md", "docs/tasks/studies.md"],
    "Notebooks": ["python/notebooks/README.md", "python/notebooks/permeability.md", "python/notebooks/tracer.md", "python/notebooks/reaction.md",
                  "python/notebooks/study.md"],
    "Use": ["docs/inputs.md", "docs/studies.md", "inputs/README.md", "docs/generator.md", "docs/method.md", "docs/conventions.md"],
    "Measured": ["docs/verification.md", "docs/performance.md", "docs/scaling.md", "docs/traces.md", "docs/comparison.md", "docs/measurements/index.md"],
    "The code": ["docs/tour.md", "docs/extending.md", "CONTRIBUTING.md", "docs/decisions/index.md", "CHANGELOG.md"],
}
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\]|!\[[^\]]*\]\([^)]*\))*)\]\(([^()\s]+)\)")


@dataclass
class Example:
    """An example of inputs/: its page, title, first sentence, and picture ("" when it has none)."""
    page: str
    title: str
    sentence: str
    picture: str


def pages(root):
    """Paths of all Markdown pages, relative to the root."""
    hidden = {"out", "build", ".venv"}
    return sorted({path.relative_to(root).as_posix() for pattern in PAGES for path in root.glob(pattern)
                   if not hidden & set(path.relative_to(root).parts)})


def links(text):
    """Targets of all links and pictures, those in the texts of links too."""
    found = []

    def look(part):
        for _, inner, target in LINK.findall(part):
            found.append(target)
            look(inner)
        return part
    outside = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    look(outside)
    return found


def anchors(text):
    """Anchors of the headings of a page, as GitHub makes them."""
    outside = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    found = []
    for title in re.findall(r"^#+ (.*)$", outside, re.M):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "")
        found.append(re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-"))
    return found


def notebooks(root):
    """Text of each notebook by its path, without output."""
    return {file.relative_to(root).as_posix(): page_of(cells_of(file), file.stem)[0] for file in sorted(root.glob("python/notebooks/*.ipynb"))}


def faults(root):
    """(page, what is wrong) for every link of a page or notebook that leads nowhere."""
    for page, text in ({page: (root / page).read_text(encoding="utf-8") for page in pages(root)} | notebooks(root)).items():
        for target in links(text):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            place = ((root / page).parent / name).resolve() if name else (root / page)
            if not place.is_relative_to(root.resolve()) or not place.exists():
                yield page, f"{target}: there is no such file"
            elif anchor and place.suffix == ".md" and anchor not in anchors(place.read_text(encoding="utf-8")):
                yield page, f"{target}: the page has no such heading"


def first_sentence(text):
    """Of the first paragraph behind the title, without links."""
    paragraph = next(part for part in re.split(r"\n\s*\n", text) if part.strip() and not part.lstrip().startswith(("#", "!", "```", "|", "*")))
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(paragraph.split()))
    return re.split(r"(?<=[.?!]) (?=[A-Z`])", plain)[0]


def examples(root):
    """All of inputs/, those with a picture first."""
    found = []
    for file in sorted(root.glob("inputs/*/README.md")):
        text = file.read_text(encoding="utf-8")
        picture = re.search(r"!\[[^\]]*\]\(([^)]+)\)", text)
        found.append(Example(file.relative_to(root).as_posix(), text.splitlines()[0].removeprefix("# "), first_sentence(text),
                             (file.parent / picture[1]).resolve().relative_to(root.resolve()).as_posix() if picture else ""))
    return sorted(found, key=lambda example: not example.picture)


def gallery(root):
    text = "# Gallery\n\nDecks that teach, each with what comes out. All are in `inputs`.\n\n<div class=\"gallery\">\n"
    for example in examples(root):
        picture = f"[![{example.title}]({example.picture})]({example.page})" if example.picture else ""
        text += f"<div class=\"card\">\n\n{picture}\n\n**[{example.title}]({example.page})**\n\n{example.sentence}\n\n</div>\n"
    return text + "</div>\n"


def contents(root, folder, title):
    """A page that lists those of a folder."""
    names = sorted(path.stem for path in (root / folder).glob("*.md"))
    return f"# {title}\n\n```{{toctree}}\n:maxdepth: 1\n\n" + "\n".join(names) + "\n```\n"


def for_site(root, page, text):
    """A page with links as the site wants them."""
    def new_target(target):
        name, mark, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target) or not name:
            return target
        place = ((root / page).parent / name).resolve()
        if place.is_dir():
            named = next((place / index for index in ("README.md",) if (place / index).exists()), None)
            if place.relative_to(root.resolve()).as_posix() in ("docs/decisions", "docs/measurements"):
                named = place / "index.md"
            return name.rstrip("/") + f"/{named.name}" if named else None
        if place == root.resolve() / FIRST:
            return os.path.relpath(root / "index.md", (root / page).parent) + mark + anchor
        return target.replace(".ipynb", ".md")

    def change(part):
        def link(m):
            target = new_target(m[3])
            return m[2] if target is None else f"{m[1]}[{LINK.sub(link, m[2])}]({target})"
        return LINK.sub(link, part)
    parts = re.split(r"(^```.*?^```)", text, flags=re.M | re.S)
    return "".join(part if n % 2 else change(part) for n, part in enumerate(parts))


def at_the_root(page, text):
    """A page whose links are relative to the root."""
    def link(m):
        target = m[3] if re.match(r"[a-z]+:|#", m[3]) else os.path.normpath(Path(page).parent / m[3])
        return f"{m[1]}[{LINK.sub(link, m[2])}]({target})"
    return LINK.sub(link, text)


def menu(known):
    """Hidden lists of pages, which make the menu; every page is in one of them."""
    named = {page for entries in MENU.values() for page in entries}
    listed = {page for page in known if page.startswith(("docs/decisions/", "docs/measurements/"))} - named
    rest = [page for page in known if page not in named | listed]
    text = ""
    for heading, entries in {**MENU, "Decks": rest}.items():
        text += f"\n```{{toctree}}\n:hidden:\n:caption: {heading}\n\n" + "\n".join(entries) + "\n```\n"
    return text


def notebook_sources(root, folder, outputs):
    """Pages of the notebooks; pictures are copied into the folder of the sources."""
    made = {}
    for file, text in notebooks(root).items():
        name = Path(file).stem
        if outputs is not None:
            text = (outputs / f"{name}.md").read_text(encoding="utf-8")
            for picture in outputs.glob(f"{name}_*.png"):
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(picture, folder / Path(file).with_name(picture.name))
        heading, _, rest = text.partition("\n")
        about = f"*The notebook `{file}`{' with its output' if outputs is not None else ''}: [download]({name}.ipynb).*"
        made[file.replace(".ipynb", ".md")] = f"{heading}\n\n{about}\n" + for_site(root, file, rest)
    return made


def write_sources(root, folder, outputs=None):
    """The sources of the site; outputs: folder of the notebooks with their output. Returns the names of its pages."""
    shutil.rmtree(folder, ignore_errors=True)
    made = {"gallery.md": gallery(root), "docs/decisions/index.md": contents(root, "docs/decisions", "Decisions"),
            "docs/measurements/index.md": contents(root, "docs/measurements", "Measurements")}
    texts = {page: for_site(root, page, (root / page).read_text(encoding="utf-8")) for page in pages(root)} | made | notebook_sources(root, folder, outputs)
    first = at_the_root(FIRST, texts.pop(FIRST))
    texts["README.md"] = texts["README.md"].replace("# Karst\n", "# Quick start and features\n", 1)
    texts["index.md"] = first + menu(sorted(texts))
    for page, text in texts.items():
        file = folder / page
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        for target in links(text):
            source = (root / page).parent / target.partition("#")[0]
            if source.is_file() and source.suffix != ".md":
                copy = folder / source.resolve().relative_to(root.resolve())
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, copy)
    return sorted(texts)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    wrong = list(faults(ROOT))
    for page, what in wrong:
        print(f"{page}: {what}", file=sys.stderr)
    if wrong:
        sys.exit(1)
    print(f"{len(write_sources(ROOT, *map(Path, sys.argv[1:])))} pages")


if __name__ == "__main__":
    main()
