//! Counters and histograms, as far as they were used.

use std::collections::BTreeMap;

use super::metric::{Kind, Metric};

pub(super) type Labels = Vec<Box<str>>;

/// Counters and histograms, by name.
#[derive(Debug, Default)]
pub(super) struct Series {
    pub(super) counters: BTreeMap<&'static str, BTreeMap<Labels, u128>>,
    pub(super) histograms: BTreeMap<&'static str, Histogram>,
}

/// Values sorted into buckets.
#[derive(Clone, Debug, Default)]
pub(super) struct Histogram {
    /// How many fell into each bucket and none before it, then those beyond all.
    pub(super) buckets: Vec<u64>,
    pub(super) sum: u128,
}

impl Series {
    pub(super) fn count<const L: usize>(&mut self, metric: &'static Metric<L>, labels: [&str; L]) {
        self.add(metric, labels, 1);
    }

    pub(super) fn add<const L: usize>(
        &mut self,
        metric: &'static Metric<L>,
        labels: [&str; L],
        amount: u128,
    ) {
        let series = self.counters.entry(metric.name).or_default();
        let count = series.entry(labels.map(Box::from).to_vec()).or_default();
        *count = count.saturating_add(amount);
    }

    pub(super) fn observe(&mut self, metric: &'static Metric<0>, value: u64) {
        let Kind::Histogram(bounds) = metric.kind else { return };
        let histogram = self.histograms.entry(metric.name).or_default();
        histogram.buckets.resize(bounds.len() + 1, 0);
        let index = bounds.partition_point(|bound| *bound < value);
        if let Some(bucket) = histogram.buckets.get_mut(index) {
            *bucket = bucket.saturating_add(1);
        }
        histogram.sum = histogram.sum.saturating_add(u128::from(value));
    }
}
