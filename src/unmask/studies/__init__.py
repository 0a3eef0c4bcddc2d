"""Studies: experiments whose steps run once, in this process or on Ray, and whose results are stored.

Each study has a folder. `steps` runs steps, `store` keeps their results, and `ray` runs them on a cluster.
"""
