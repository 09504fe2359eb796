//! A tree of squares, so that far nodes push as one (Barnes and Hut 1986).

/// A square is far enough if it is so much smaller than its distance.
const FAR: f32 = 1.0;
/// Squares this deep are not divided: nodes in the same place would be divided for ever.
const DEEPEST: usize = 24;
const NONE: u32 = u32::MAX;

struct Square {
    /// The first of four that it is divided into.
    parts: u32,
    mass: f32,
    /// Σ m x, then the middle of what is in it.
    middle: [f32; 2],
    width: f32,
}

/// Masses in squares of squares.
pub(super) struct Squares(Vec<Square>);

impl Squares {
    pub(super) fn new(places: &[[f32; 2]], mass: &[f32]) -> Self {
        let (mut low, mut high) = ([f32::MAX; 2], [f32::MIN; 2]);
        for place in places {
            for axis in 0..2 {
                low[axis] = low[axis].min(place[axis]);
                high[axis] = high[axis].max(place[axis]);
            }
        }
        let width = (high[0] - low[0]).max(high[1] - low[1]).max(1e-6);
        let mut order: Vec<u32> = (0..places.len() as u32).collect();
        let root = Square { parts: NONE, mass: 0.0, middle: [0.0; 2], width };
        let mut squares = vec![root];
        // Each with the nodes that are in it, a part of the order.
        let mut open = vec![(0usize, low, 0, places.len(), 0)];
        while let Some((k, corner, start, end, depth)) = open.pop() {
            let own = &mut order[start..end];
            let (mut total, mut middle) = (0.0f32, [0.0f32; 2]);
            for &node in own.iter() {
                let (m, [x, y]) = (mass[node as usize], places[node as usize]);
                total += m;
                middle[0] += m * x;
                middle[1] += m * y;
            }
            squares[k].mass = total;
            squares[k].middle = middle.map(|x| x / total.max(1e-12));
            if own.len() < 2 || depth == DEEPEST {
                continue;
            }
            let half = squares[k].width / 2.0;
            let centre = [corner[0] + half, corner[1] + half];
            let quarter = |node: u32| {
                let [x, y] = places[node as usize];
                usize::from(x >= centre[0]) + 2 * usize::from(y >= centre[1])
            };
            own.sort_unstable_by_key(|&node| (quarter(node), node));
            let first = squares.len();
            squares[k].parts = first as u32;
            let mut from = 0;
            for part in 0..4 {
                let count = own[from..].iter().take_while(|&&node| quarter(node) == part).count();
                squares.push(Square { parts: NONE, mass: 0.0, middle: [0.0; 2], width: half });
                let right = if part % 2 == 1 { half } else { 0.0 };
                let up = if part / 2 == 1 { half } else { 0.0 };
                let corner = [corner[0] + right, corner[1] + up];
                if count > 0 {
                    open.push((
                        first + part,
                        corner,
                        start + from,
                        start + from + count,
                        depth + 1,
                    ));
                }
                from += count;
            }
        }
        Squares(squares)
    }

    /// How a mass is pushed: Σ m_i m_j (x_i − x_j) / ‖x_i − x_j‖².
    pub(super) fn repulsion(&self, place: [f32; 2], mass: f32) -> [f32; 2] {
        let mut force = [0.0f32; 2];
        let mut open = [0u32; 4 * DEEPEST + 8];
        let mut count = 1;
        while count > 0 {
            count -= 1;
            let square = &self.0[open[count] as usize];
            if square.mass == 0.0 {
                continue;
            }
            let (dx, dy) = (place[0] - square.middle[0], place[1] - square.middle[1]);
            let squared = dx * dx + dy * dy;
            if square.parts == NONE || square.width * square.width < FAR * FAR * squared {
                // Nobody is pushed by itself; nodes that are close are pushed, not shot away.
                let push = mass * square.mass / (squared + 0.01);
                force[0] += push * dx;
                force[1] += push * dy;
            } else {
                for part in 0..4 {
                    open[count] = square.parts + part;
                    count += 1;
                }
            }
        }
        force
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::hash;
    use super::*;

    #[test]
    fn the_push_is_about_that_of_all_nodes() {
        let number = |k: u64| (hash(k) % 1000) as f32 / 50.0;
        let places: Vec<[f32; 2]> = (0..200).map(|k| [number(k), number(k + 1000)]).collect();
        let mass: Vec<f32> = (0..200).map(|k| 1.0 + (k % 7) as f32).collect();
        let squares = Squares::new(&places, &mass);
        let (mut off, mut size) = (0.0, 0.0);
        for (i, &[x, y]) in places.iter().enumerate() {
            let mut exact = [0.0; 2];
            for (j, &[a, b]) in places.iter().enumerate().filter(|&(j, _)| j != i) {
                let push = mass[i] * mass[j] / ((x - a).powi(2) + (y - b).powi(2) + 0.01);
                exact = [exact[0] + push * (x - a), exact[1] + push * (y - b)];
            }
            let found = squares.repulsion([x, y], mass[i]);
            off += (found[0] - exact[0]).hypot(found[1] - exact[1]);
            size += exact[0].hypot(exact[1]);
        }
        assert!(off < 0.05 * size, "off by {off} of {size}");
    }

    #[test]
    fn nodes_in_one_place_push_nobody_away_for_ever() {
        let squares = Squares::new(&[[1.0, 1.0]; 50], &[1.0; 50]);
        assert!(squares.repulsion([1.0, 1.0], 1.0).iter().all(|x| x.is_finite()));
        assert!(squares.repulsion([2.0, 1.0], 1.0)[0] > 0.0);
    }
}
