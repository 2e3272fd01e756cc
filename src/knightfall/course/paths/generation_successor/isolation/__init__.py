"""Package `isolation` for submissions to the successor course, as in that course."""

from multiprocessing import Pipe as Pipe
from multiprocessing import Process as Process
from queue import Empty as Empty

from isolation import isolation as isolation  # type: ignore[import-not-found]
from isolation.isolation import DebugState, Isolation  # type: ignore[import-not-found]
from knightfall.course.generation_successor import PROCESS_TIMEOUT as PROCESS_TIMEOUT
from knightfall.course.generation_successor import Action as Action
from knightfall.course.generation_successor import Agent as Agent
from knightfall.course.generation_successor import Status, fork_get_action, play
from knightfall.course.generation_successor import StopSearch as StopSearch
from knightfall.course.generation_successor import TimedQueue as TimedQueue
from knightfall.course.generation_successor import _play as _play
from knightfall.course.generation_successor import _request_action as _request_action
from knightfall.course.generation_successor import logger as logger

__all__ = ["DebugState", "Isolation", "Status", "fork_get_action", "play"]
