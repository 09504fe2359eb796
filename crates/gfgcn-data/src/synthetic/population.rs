//! Who the nodes of a synthetic graph are, how many edges each gets, and to whom.

use super::steps::Steps;
use super::{below, unit};
use gfgcn::{Error, Result, pages};
use rand_chacha::ChaCha8Rng;
use std::ops::Range;

/// Draws of one neighbour before the first free node is taken.
const TRIES: usize = 32;

/// The classes and the θ of all nodes, arranged for drawing.
pub(super) struct Population {
    class: Vec<u32>,
    /// The nodes class by class, in ascending order within each.
    members: Vec<u32>,
    /// Where each node stands in `members`.
    place: Vec<u32>,
    /// Where each class starts in `members`, and the end.
    starts: Vec<usize>,
    /// θ of each node.
    theta: Steps,
    /// θ of each of `members`.
    member_theta: Steps,
}

impl Population {
    pub(super) fn draw(nodes: usize, classes: usize, random: &mut ChaCha8Rng) -> Self {
        let largest = 3.0 * (nodes as f64).sqrt();
        let mut class = Vec::with_capacity(nodes);
        let mut starts = vec![0; classes + 1];
        let draw = |node| {
            let drawn = below(random, classes);
            let of_node = if node < classes { node } else { drawn };
            class.push(of_node as u32);
            starts[of_node + 1] += 1;
            // The largest of three uniform numbers is below x with probability x³.
            let root = (0..3).map(|_| 1.0 - unit(random)).fold(0.0, f64::max);
            (1.0 / (root * root)).min(largest)
        };
        let theta = Steps::new(nodes, (0..nodes).map(draw));
        (0..classes).for_each(|c| starts[c + 1] += starts[c]);
        let mut next = starts.clone();
        let (mut members, mut place) = (pages::zeros(nodes), vec![0; nodes]);
        for node in 0..nodes {
            let slot = &mut next[class[node] as usize];
            members[*slot] = node as u32;
            place[node] = *slot as u32;
            *slot += 1;
        }
        let of_members = members.iter().map(|&node| theta.weight(node as usize));
        let member_theta = Steps::new(nodes, of_members);
        Population { class, members, place, starts, theta, member_theta }
    }

    /// The classes alone, once nothing more is drawn.
    pub(super) fn into_classes(self) -> Vec<u32> {
        self.class
    }

    /// The class of each node.
    pub(super) fn classes(&self) -> &[u32] {
        &self.class
    }

    /// The edges within and those between classes, before any node has taken its part.
    pub(super) fn allot(&self, edges: usize, homophily: f64) -> Result<[Allotment; 2]> {
        let within = ((homophily * edges as f64).round() as usize).min(edges);
        let mut parts = [within, edges - within].map(Allotment::new);
        for node in 0..self.class.len() {
            for (part, (weight, pairs)) in parts.iter_mut().zip(self.stakes(node)) {
                part.weight += weight;
                part.pairs += pairs;
            }
        }
        for (part, which, change) in
            [(&parts[0], "in one class", "smaller"), (&parts[1], "of two classes", "larger")]
        {
            if part.edges > part.pairs {
                let expected = format!(
                    "{change}, or the edges fewer: there are only {} pairs of nodes {which} for {} \
                     edges",
                    part.pairs, part.edges
                );
                return Err(Error::parameter("homophily", homophily, expected));
            }
        }
        Ok(parts)
    }

    /// The numbers of edges within its class and between classes that a node gets. Nodes must ask
    /// in ascending order.
    pub(super) fn take(&self, node: usize, parts: &mut [Allotment; 2]) -> [usize; 2] {
        let [(weight, pairs), (other_weight, other_pairs)] = self.stakes(node);
        [parts[0].take(weight, pairs), parts[1].take(other_weight, other_pairs)]
    }

    /// How a node counts when edges within its class, and those between classes, are divided: its
    /// weight and the number of its pairs.
    fn stakes(&self, node: usize) -> [(f64, u64); 2] {
        let nodes = self.class.len();
        let members = self.larger_members(node);
        let theta = self.theta.weight(node);
        let within = self.member_theta.within(members.clone());
        let between = (self.theta.within(node + 1..nodes) - within).max(0.0);
        let others = nodes - 1 - node - members.len();
        [(theta * within, members.len() as u64), (theta * between, others as u64)]
    }

    /// The larger nodes of a node's class, as a range of `members`.
    fn larger_members(&self, node: usize) -> Range<usize> {
        self.place[node] as usize + 1..self.starts[self.class[node] as usize + 1]
    }

    /// Draws that many larger neighbours of a node within its class and in others, in ascending
    /// order. `taken` has a bit for each node, all 0 before and after.
    pub(super) fn larger_neighbours(
        &self,
        node: usize,
        [within, between]: [usize; 2],
        mut random: ChaCha8Rng,
        taken: &mut [u64],
    ) -> Vec<u32> {
        let mut row = Vec::with_capacity(within + between);
        let members = self.larger_members(node);
        for _ in 0..within {
            let neighbour = draw(&self.member_theta, members.clone(), &mut random, |place| {
                let other = self.members[place];
                (!is_set(taken, other)).then_some(other)
            });
            flip(taken, neighbour);
            row.push(neighbour);
        }
        for _ in 0..between {
            let neighbour = draw(&self.theta, node + 1..self.class.len(), &mut random, |other| {
                let free = self.class[other] != self.class[node] && !is_set(taken, other as u32);
                free.then_some(other as u32)
            });
            flip(taken, neighbour);
            row.push(neighbour);
        }
        row.iter().for_each(|&neighbour| flip(taken, neighbour));
        row.sort_unstable();
        row
    }
}

/// Draws a position with probability proportional to its weight until the candidate there
/// is free; if that takes too long, takes the first free one from a random place on.
///
/// # Panics
/// If none is free.
fn draw(
    weights: &Steps,
    range: Range<usize>,
    random: &mut ChaCha8Rng,
    candidate: impl Fn(usize) -> Option<u32>,
) -> u32 {
    let (low, high) = (weights.before(range.start), weights.before(range.end));
    for _ in 0..TRIES {
        let at = low + unit(random) * (high - low);
        if let Some(found) = candidate(weights.position(at, range.clone())) {
            return found;
        }
    }
    let middle = range.start + below(random, range.len());
    let mut positions = (middle..range.end).chain(range.start..middle);
    positions.find_map(candidate).expect("no node gets more edges than it has pairs")
}

fn is_set(bits: &[u64], k: u32) -> bool {
    bits[k as usize / 64] >> (k % 64) & 1 == 1
}

fn flip(bits: &mut [u64], k: u32) {
    bits[k as usize / 64] ^= 1 << (k % 64);
}

/// Edges that are divided among nodes by their weights, in whole numbers, to the last one.
pub(super) struct Allotment {
    /// What is left, and the weight and the number of pairs of the nodes that have not asked yet.
    edges: u64,
    weight: f64,
    pairs: u64,
    /// What is left when fractions count.
    share: f64,
    /// The fractions that rounding has held back, 0 to 1.
    owed: f64,
}

impl Allotment {
    fn new(edges: usize) -> Self {
        Allotment { edges: edges as u64, weight: 0.0, pairs: 0, share: edges as f64, owed: 0.0 }
    }

    /// The part of the next node: at most one edge for each of its pairs, and no fewer than the
    /// later nodes could not take.
    fn take(&mut self, weight: f64, pairs: u64) -> usize {
        let share =
            if weight < self.weight { self.share * (weight / self.weight) } else { self.share };
        self.share -= share;
        self.weight -= weight;
        self.pairs -= pairs;
        self.owed += share;
        let least = self.edges.saturating_sub(self.pairs);
        let edges = (self.owed as u64).clamp(least, pairs.min(self.edges));
        self.edges -= edges;
        self.owed -= edges as f64;
        // What this node could not take, or took for others, is the others' to share.
        let whole = self.owed.floor();
        self.share += whole;
        self.owed -= whole;
        edges as usize
    }
}
