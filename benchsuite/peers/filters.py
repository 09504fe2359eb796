"""The paper's filters, product by product."""

from problem import TAU, TIME


def sgc(operator, features, depth):
    for _ in range(depth):
        features = operator @ features
    return features


def ssgc(operator, features, depth):
    power, total = features, TAU * features
    for _ in range(depth):
        power = operator @ power
        total += (1 - TAU) / depth * power
    return total


def dgc(operator, features, depth):
    step = TIME / depth
    for _ in range(depth):
        features = (1 - step) * features + step * (operator @ features)
    return features


FILTERS = {"sgc": sgc, "ssgc": ssgc, "dgc": dgc}
