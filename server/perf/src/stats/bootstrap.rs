//! An interval for the median by resampling blocks.
//!
//! A block is one A B B A: its two ratios lean opposite ways when the machine drifts, so they are
//! drawn together.

use super::Ratios;
use super::distribution::Reference;
use super::random::Random;

/// Resamples per interval; the ends of a 98.75 % interval then rest on the 6 to 24 outermost.
const RESAMPLES: usize = 4000;
const SEED: u64 = 0x7469_6c65_7065_7266;

pub(crate) struct Bootstrap {
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Standard deviation of the resampled medians.
    pub(crate) standard_error: f64,
}

/// The percentile interval of the median at `level`.
pub(crate) fn median_interval(ratios: &Ratios, level: f64) -> Bootstrap {
    let sorted = ratios.sorted();
    // Ranks instead of values: a resample is then a histogram, and its median one walk over it.
    let mut ranked: Vec<(f64, usize, usize)> = Vec::with_capacity(sorted.len());
    for (block, values) in ratios.blocks().iter().enumerate() {
        ranked.extend(
            values
                .iter()
                .enumerate()
                .map(|(slot, value)| (*value, block, slot)),
        );
    }
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut blocks: Vec<Vec<usize>> = ratios.blocks().iter().map(|b| vec![0; b.len()]).collect();
    for (rank, &(_, block, slot)) in ranked.iter().enumerate() {
        blocks[block][slot] = rank;
    }

    let mut random = Random::seeded(SEED);
    let mut counts = vec![0usize; sorted.len()];
    let mut medians: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            counts.fill(0);
            let mut drawn = 0;
            for _ in 0..blocks.len() {
                let block = &blocks[random.below(blocks.len())];
                drawn += block.len();
                for &rank in block {
                    counts[rank] += 1;
                }
            }
            median_of_counts(&sorted, &counts, drawn)
        })
        .collect();
    medians.sort_by(f64::total_cmp);

    let outside = (expanded_tail(level, blocks.len()) * RESAMPLES as f64) as usize;
    let mean = medians.iter().sum::<f64>() / RESAMPLES as f64;
    let variance = medians.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / RESAMPLES as f64;
    Bootstrap {
        low: medians[outside],
        high: medians[RESAMPLES - 1 - outside],
        standard_error: variance.sqrt(),
    }
}

/// The tail to cut off so that the interval keeps its level with few blocks. Plain percentiles are
/// too narrow by about what the normal quantile falls short of Student's, and by the root of
/// n / (n - 1); cutting off less makes up for both (Hesterberg 2015, "expanded percentile").
fn expanded_tail(level: f64, blocks: usize) -> f64 {
    let count = blocks as f64;
    let quantile = Reference::Student(blocks as u32 - 1).upper_quantile((1.0 - level) / 2.0);
    Reference::Normal.upper_tail((count / (count - 1.0)).sqrt() * quantile)
}

fn median_of_counts(sorted: &[f64], counts: &[usize], drawn: usize) -> f64 {
    let (lower, upper) = ((drawn - 1) / 2, drawn / 2);
    let mut passed = 0;
    let mut low = None;
    for (value, count) in sorted.iter().zip(counts) {
        passed += count;
        if low.is_none() && passed > lower {
            low = Some(*value);
        }
        if let Some(low) = low.filter(|_| passed > upper) {
            return f64::midpoint(low, *value);
        }
    }
    low.unwrap_or(0.0)
}
