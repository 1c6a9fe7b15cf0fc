"""Where a result comes from: finished deals taken apart by role, bid, card and time.

Each module has `count`, which gives counts of one lot of deals for some of its players, and what
makes shares or means of them; counts of several lots are added with `games.add` first. Of games
other than Prefa nothing is counted.
"""
