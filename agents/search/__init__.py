"""Search players: sampled worlds and the open-card solver."""
