"""How the studies' agents really played: what is known, what is fitted, and how well it fits."""
