"""The documentation site: docs/, README and the examples as static HTML, with reference pages made from the code.

`python -m scripts.site` writes `build/site`, and `make docs` runs it. `--serve` serves the result on loopback. Modules,
from the first step of a build to the last:

| module | content |
|---|---|
| `places` | path of each file in the site |
| `page`, `kinds`, `collect` | pages, their kinds and translations, and where they come from |
| `navigation` | pages in sections and groups |
| `glossary`, `code`, `render` | Markdown to HTML |
| `views` | pages of linked source files and folders |
| `layout`, `front`, `labels` | templates in `theme/`, the front page, texts of the interface |
| `search`, `copies` | search index, Markdown next to each page, `llms.txt` |
| `cache`, `made` | only pages with changed sources are rendered |
| `check` | links, anchors, pictures, headings of the result |
"""
