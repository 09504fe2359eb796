//! Nodes and features in the order of their names, so that the order in which a file lists them changes nothing.

use super::Dataset;
use crate::split::Split;

impl Dataset {
    /// With the nodes in the [order of their ids](order_of_names), where they have some, and the features in that of their
    /// names, where they stand as [they first came](Dataset::with_features_as_they_came). Whatever is computed is then the
    /// same to the last bit, however the source orders its rows.
    #[must_use]
    pub fn ordered_by_names(self) -> Dataset {
        let mut dataset = self.with_features_in_order();
        dataset.listing.by_names = true;
        let Some(ids) = dataset.node_ids() else { return dataset };
        let places = order_of_names(ids);
        if places.is_sorted() {
            return dataset;
        }
        let mut ordered = dataset.select(&places);
        ordered.places = Some(places);
        ordered
    }

    fn with_features_in_order(mut self) -> Dataset {
        let Some(names) = self.feature_names().filter(|_| self.listing.features_as_they_came)
        else {
            return self;
        };
        let order = order_of_names(names);
        if order.is_sorted() {
            return self;
        }
        let mut columns = vec![None; names.len()];
        order.iter().zip(0..).for_each(|(&old, new)| columns[old] = Some(new));
        let names = order.iter().map(|&old| names[old].clone()).collect();
        self = self.map_features(|features| features.map_columns(&columns, columns.len()));
        self.with_feature_names(names).expect("the same names as before")
    }

    /// Says that the source lists features in no order of its own: they stand in that of their first appearance.
    #[must_use]
    pub fn with_features_as_they_came(mut self) -> Dataset {
        self.listing.features_as_they_came = true;
        self
    }

    /// Says that the source lists no nodes: there are those that edges name.
    #[must_use]
    pub fn with_nodes_of_edges(mut self) -> Dataset {
        self.listing.nodes_of_edges = true;
        self
    }

    /// Says that the source lists no relations: there are those that edges name.
    #[must_use]
    pub fn with_relations_of_edges(mut self) -> Dataset {
        self.listing.relations_of_edges = true;
        self
    }

    /// The nodes in the order in which the source of the data lists them.
    pub fn as_listed(&self) -> Vec<usize> {
        let Some(places) = &self.places else { return (0..self.nodes()).collect() };
        let mut listed = vec![0; places.len()];
        places.iter().enumerate().for_each(|(node, &place)| listed[place] = node);
        listed
    }

    /// The split of these nodes that a split by places in the source stands for.
    #[must_use]
    pub fn split_of_places(&self, split: Split) -> Split {
        match &self.places {
            Some(places) => split.select(places, self.nodes()),
            None => split,
        }
    }
}

/// The positions of some names in their order: as numbers where all are integers, by their characters otherwise.
///
/// ```
/// let names = ["10", "9", "-1"].map(String::from);
/// assert_eq!(gfgcn::data::order_of_names(&names), [2, 1, 0]);
/// ```
pub fn order_of_names<S: AsRef<str>>(names: &[S]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..names.len()).collect();
    let integers: Option<Vec<i64>> = names.iter().map(|name| name.as_ref().parse().ok()).collect();
    match integers {
        // `7` and `07` are two names.
        Some(integers) => order.sort_by_key(|&k| (integers[k], names[k].as_ref())),
        None => order.sort_by_key(|&k| names[k].as_ref()),
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Labels;
    use crate::features::Features;
    use crate::graph::Graph;
    use crate::matrix::Matrix;

    #[test]
    fn numbers_are_ordered_as_numbers_and_words_as_words() {
        let order = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            order_of_names(&names).into_iter().map(|k| names[k].clone()).collect::<Vec<_>>()
        };
        assert_eq!(order(&["10", "9", "-1"]), ["-1", "9", "10"]);
        assert_eq!(order(&["7", "07"]), ["07", "7"]);
        assert_eq!(order(&["b", "10", "9", "a"]), ["10", "9", "a", "b"]);
    }

    #[test]
    fn an_ordered_dataset_remembers_how_it_was_listed() {
        let (graph, _) = Graph::from_edges(3, &[(0, 1)], None).unwrap();
        let features = Features::dense(Matrix::from_fn(3, 2, |i, j| (2 * i + j) as f32)).unwrap();
        let ids = ["c", "a", "b"].map(String::from).to_vec();
        let listed = Dataset::new("three", graph, features, Labels::none(3)).unwrap();
        let listed = listed.with_feature_names(vec!["y".into(), "x".into()]).unwrap();
        let listed = listed.with_features_as_they_came();
        let ordered = listed.with_node_ids(ids).unwrap().ordered_by_names();
        assert_eq!(ordered.node_ids().unwrap(), ["a", "b", "c"]);
        assert_eq!(ordered.graph().neighbours(0), [2], "a and c are joined");
        assert_eq!(ordered.feature_names().unwrap(), ["x", "y"]);
        let mut of_a = vec![0.0; 2];
        ordered.features().for_each_in_row(0, |column, value| of_a[column] = value);
        assert_eq!(of_a, [3.0, 2.0]);
        let names: Vec<_> = ordered.as_listed().into_iter().map(|k| ordered.node_id(k)).collect();
        assert_eq!(names, ["c", "a", "b"]);
        let split = Split::new(3, vec![0], vec![1], vec![2]).unwrap();
        let split = ordered.split_of_places(split);
        assert_eq!(
            (split.train(), split.validation(), split.test()),
            (&[2][..], &[0][..], &[1][..])
        );
    }

    #[test]
    fn every_split_follows_its_nodes() {
        let (graph, _) = Graph::from_edges(4, &[(0, 1), (1, 3)], None).unwrap();
        let features = Features::dense(Matrix::from_fn(4, 1, |i, _| i as f32)).unwrap();
        let split = |train, test| Split::new(4, vec![train], vec![], vec![test]).unwrap();
        let listed = Dataset::new("four", graph, features, Labels::none(4)).unwrap();
        let listed = listed.with_splits(vec![split(0, 3), split(2, 0), split(3, 2)]).unwrap();
        let fingerprint = listed.fingerprint();
        let parts = |dataset: &Dataset| -> Vec<Vec<Vec<String>>> {
            let ids = |part: &[usize]| part.iter().map(|&n| dataset.node_id(n).into()).collect();
            let of_split = |split: &Split| split.parts().map(|(_, part)| ids(part)).to_vec();
            dataset.splits().iter().map(of_split).collect()
        };
        let named = listed.clone().with_node_ids(["d", "c", "b", "a"].map(String::from).to_vec());
        let named = named.unwrap();
        let ordered = named.clone().ordered_by_names();
        assert_eq!(ordered.node_ids().unwrap(), ["a", "b", "c", "d"]);
        assert_eq!(parts(&ordered), parts(&named));
        // Node b stands alone: the second split loses its training part, the third its test part.
        let component = parts(&named.largest_component());
        assert_eq!(component[0], [["d"].map(String::from).to_vec(), vec![], vec!["a".to_owned()]]);
        assert_eq!(component[1], [vec![], vec![], vec!["d".to_owned()]]);
        assert_eq!(component[2], [vec!["a".to_owned()], vec![], vec![]]);
        let only = listed.with_split(split(1, 2)).unwrap();
        assert_eq!((only.splits().len(), only.fingerprint()), (1, fingerprint));
        assert!(
            only.with_splits(vec![split(0, 1), Split::new(9, vec![8], vec![], vec![]).unwrap()])
                .is_err()
        );
    }
}
