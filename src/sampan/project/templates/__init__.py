"""Text of the files of a project. A template is a function from inputs to files; it does no I/O."""

from sampan.project.templates.text import SCAFFOLD, Files, FileText

__all__ = ["SCAFFOLD", "FileText", "Files"]
