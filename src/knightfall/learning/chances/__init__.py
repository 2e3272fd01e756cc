"""How likely a reply is, and how likely it is the wrong one: learned from decisions of hunters."""
