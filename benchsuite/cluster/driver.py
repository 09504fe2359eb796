"""A cluster of so many nodes, and its driver: reads fits to do from standard input, and says how long their shares took."""

from __future__ import annotations

import json
import os
import sys
import threading
import time

import ray
from ray.cluster_utils import Cluster

import gfgcn.ray

MODEL = {"public_split": True, "model": "gfsgc", "depth": 4, "force": True}
OBJECTS = 500_000_000


def main(count: int) -> None:
    # Ray says things on standard output, which is for answers here.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    # The head has no processor, so that only the others compute.
    head = {"num_cpus": 0, "object_store_memory": OBJECTS, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    nodes = [cluster.add_node(num_cpus=1, object_store_memory=OBJECTS) for _ in range(count)]
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    try:
        for line in sys.stdin:
            store, target, kill_after = json.loads(line)
            if kill_after is not None:
                threading.Timer(kill_after, cluster.remove_node, [nodes.pop()], {"allow_graceful": False}).start()
            times: list[float] = []
            gfgcn.ray.fit(store, target, progress=lambda done, total: times.append(time.monotonic()), **MODEL)
            print(times[-1] - times[0], file=answers, flush=True)
    finally:
        ray.shutdown()
        cluster.shutdown()


if __name__ == "__main__":
    main(int(sys.argv[1]))
