//! The full check of deletion vectors beside its floor: one CRC-32 pass, and `roaring`'s checked decoding.

use crate::{Result, say};
use guillemot::dv::DeletionVector;
use roaring::RoaringBitmap;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// How long one turn takes, and how many turns each side has.
const TURN: Duration = Duration::from_millis(60);
const TURNS: usize = 15;

/// Prints, for each kind of container, microseconds a vector of both and their ratio.
pub(crate) fn measure() -> Result<()> {
    say("\ndeletion vectors: the full check, and CRC-32 plus roaring's decoding; medians of alternating turns")?;
    say("                                     bytes  check us  floor us  of the floor")?;
    for (name, bitmap) in kinds() {
        let blob = blob(&bitmap)?;
        let vector = blob.get(4..blob.len() - 4).ok_or("a vector has an envelope")?;
        // After magic, count and key.
        let bytes = vector.get(16..).ok_or("a vector has a bitmap")?;
        let check = || DeletionVector::parse(black_box(&blob)).is_ok();
        let floor = || {
            black_box(crc32fast::hash(black_box(vector)));
            RoaringBitmap::deserialize_from(black_box(bytes)).is_ok()
        };
        if !check() || !floor() {
            return Err(format!("{name}: not a vector").into());
        }
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..TURNS {
            ours.push(turn(&check));
            theirs.push(turn(&floor));
        }
        let (ours, theirs) = (median(ours), median(theirs));
        let ratio = ours / theirs.max(f64::EPSILON);
        say(&format!("{name:<32}{:>10}{ours:>10.2}{theirs:>10.2}{ratio:>14.2}", blob.len()))?;
    }
    Ok(())
}

/// Vectors of one kind of container each, small and large, and what a writer mixes.
fn kinds() -> Vec<(&'static str, RoaringBitmap)> {
    let array = |containers: u32, values: u32| {
        let step = 65_536 / values;
        (0..containers).flat_map(move |high| (0..values).map(move |low| high << 16 | (low * step))).collect()
    };
    let bitset = |containers: u32| -> RoaringBitmap {
        (0..containers).flat_map(|high| (0..20_000).map(move |low| high << 16 | (low * 3))).collect()
    };
    let runs = |containers: u32, each: u32| {
        let mut bitmap = RoaringBitmap::new();
        let step = 65_536 / each;
        for high in 0..containers {
            for run in 0..each {
                let first = high << 16 | (run * step);
                bitmap.insert_range(first..=first + step / 2);
            }
        }
        bitmap.optimize();
        bitmap
    };
    let mut mixed: RoaringBitmap = array(4, 1000);
    mixed |= RoaringBitmap::from_sorted_iter((4 << 16..6 << 16).step_by(3)).unwrap_or_default();
    mixed.insert_range(6 << 16..9 << 16);
    mixed.optimize();
    vec![
        ("array, 5 positions", array(1, 5)),
        ("array, 2,000 positions", array(1, 2000)),
        ("array, 40 containers", array(40, 4000)),
        ("bitmap, 1 container", bitset(1)),
        ("bitmap, 40 containers", bitset(40)),
        ("runs, 1 run", runs(1, 1)),
        ("runs, 200 runs", runs(1, 200)),
        ("runs, 40 containers of 1,000", runs(40, 1000)),
        ("mixed", mixed),
    ]
}

fn turn(work: &impl Fn() -> bool) -> f64 {
    let started = Instant::now();
    let mut times = 0_u32;
    while started.elapsed() < TURN {
        for _ in 0..16 {
            black_box(work());
        }
        times += 16;
    }
    started.elapsed().as_secs_f64() * 1e6 / f64::from(times)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Length, magic, one bitmap under key 0, CRC.
pub(crate) fn blob(positions: &RoaringBitmap) -> Result<Vec<u8>> {
    let mut body = vec![0xd1, 0xd3, 0x39, 0x64, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    positions.serialize_into(&mut body)?;
    let length = u32::try_from(body.len())?.to_be_bytes();
    Ok([&length[..], &body, &crc32fast::hash(&body).to_be_bytes()].concat())
}
