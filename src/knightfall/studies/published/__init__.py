"""What the five studies printed, as data, and where it contradicts itself."""
