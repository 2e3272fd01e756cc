"""Knight's Isolation as an environment of PettingZoo and Gymnasium, for reinforcement learning.

Importing this package registers ``knightfall/Isolation-v0`` with Gymnasium.  The PettingZoo
environment is the module `knightfall_v0`.
"""

from knightfall.optional_dependencies import require

require("knightfall.env", "gymnasium", "pettingzoo")

from gymnasium.envs.registration import register, registry  # noqa: E402

ID = "knightfall/Isolation-v0"

if ID not in registry:
    register(
        id=ID,
        entry_point="knightfall.env.isolation_env:IsolationEnv",
        vector_entry_point="knightfall.env.vector_env:IsolationVectorEnv",
    )
