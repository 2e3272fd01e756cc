"""What the studies add to knightfall."""

from knightfall.extensions import Extension

EXTENSION = Extension(
    agents={"student": "knightfall.studies.student_agent:StudentAgent"},
    commands={"reproduce": "knightfall.studies.commands:reproduce"},
)
