//! Whether edges have directions: what is asked for, what data say of themselves, and what is said where they are
//! forgotten.

use gfgcn::data::Dataset;
use gfgcn::graph::{Graph, Repairs};
use gfgcn::{Error, Result};

/// What becomes of the directions of edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Directions {
    /// They are kept where the data say that edges have some. Elsewhere edges are used either way, and those that only
    /// go one way are counted in a note.
    #[default]
    AsSaid,
    /// They are kept, unless the data say that there are none, which is an error.
    Kept {
        /// What asks for it, for messages: `--directed`.
        by: &'static str,
    },
}

/// What data say of themselves.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub(crate) directed: bool,
    /// What says so, for messages: `member directed`.
    pub(crate) by: String,
}

impl Said {
    fn words(directed: bool) -> &'static str {
        if directed { "directed" } else { "undirected" }
    }
}

/// What becomes of the edges of some data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resolved {
    pub(crate) directed: bool,
    /// Whether the data say so themselves.
    said: bool,
}

impl Resolved {
    /// The graph that was built and its repairs. Where the data say that edges have no directions, each is there once on
    /// purpose.
    pub(crate) fn settled(self, (graph, mut repairs): (Graph, Repairs)) -> (Graph, Repairs) {
        if self.said && !self.directed {
            repairs.symmetrized = 0;
        }
        (graph, repairs)
    }
}

impl Directions {
    /// What becomes of edges, by what is asked for and everything that the data say.
    ///
    /// # Errors
    /// If any two of these differ.
    pub(crate) fn resolve(self, said: impl IntoIterator<Item = Said>) -> Result<Resolved> {
        let mut said = said.into_iter();
        let Some(first) = said.next() else {
            return Ok(Resolved { directed: self != Directions::AsSaid, said: false });
        };
        let words = |said: &Said| {
            format!("{} says that the edges are {}", said.by, Said::words(said.directed))
        };
        if let Some(other) = said.find(|other| other.directed != first.directed) {
            let (first, other) = (words(&first), words(&other));
            let problem = format!("mixed directed flags: {first}, but {other}; change one of them");
            return Err(Error::Data(problem));
        }
        match self {
            Directions::Kept { by } if !first.directed => Err(Error::Data(format!(
                "mixed directed flags: {}, but {by} needs directions",
                words(&first)
            ))),
            _ => Ok(Resolved { directed: first.directed, said: true }),
        }
    }
}

/// A dataset with a note for each kind of repair, and one if directions were forgotten.
pub(crate) fn note_repairs(dataset: Dataset, repairs: &Repairs) -> Dataset {
    let dataset = dataset.with_repairs(&Repairs { symmetrized: 0, ..*repairs });
    let edges = match repairs.symmetrized {
        0 => return dataset,
        1 => "1 edge goes one way only; it is".to_owned(),
        several => format!("{several} edges go one way only; they are"),
    };
    dataset.with_note(format!("{edges} used either way (--directed keeps directions)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEPT: Directions = Directions::Kept { by: "--directed" };

    #[test]
    fn flags_agree_or_are_both_named() {
        let said = |directed| Said { directed, by: format!("member {directed}") };
        let resolve = |directions: Directions, said: &[Said]| {
            directions.resolve(said.to_vec()).map(|resolved| resolved.directed)
        };
        assert!(!resolve(Directions::AsSaid, &[]).unwrap());
        assert!(resolve(KEPT, &[]).unwrap());
        assert!(resolve(Directions::AsSaid, &[said(true)]).unwrap());
        assert!(resolve(KEPT, &[said(true), said(true)]).unwrap());
        assert!(!resolve(Directions::AsSaid, &[said(false)]).unwrap());
        for (directions, said, parts) in [
            (KEPT, vec![said(false)], ["member false", "--directed"]),
            (Directions::AsSaid, vec![said(true), said(false)], ["member true", "member false"]),
        ] {
            let error = resolve(directions, &said).unwrap_err().to_string();
            assert!(parts.iter().all(|part| error.contains(part)), "{error}");
            assert!(error.starts_with("mixed directed flags"), "{error}");
        }
    }
}
