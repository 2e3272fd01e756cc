"""What the course adds to knightfall."""

from knightfall.extensions import Extension

EXTENSION = Extension(
    agents={"course": "knightfall.course.agent:CourseAgent"},
    heuristics={"course:": "knightfall.course.student_scores.student_score:read_score"},
    commands={"course": "knightfall.course.commands:course"},
)
