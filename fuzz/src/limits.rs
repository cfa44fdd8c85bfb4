//! How much memory and time an input may take, and what is done with one that takes more: the fuzzer stops and
//! keeps it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

#[global_allocator]
static COUNTED: Counted = Counted;

/// What any input may take, however short it is. An input of 1 KB stays below 10 MB with each target's multiple.
const FLOOR_BYTES: usize = 4 << 20;
/// No input may ask for that much at once.
const MOST_AT_ONCE: usize = 1 << 30;
/// Instrumented code on a busy machine is some ten times slower than the server's.
const MOST_TIME: Duration = Duration::from_secs(5);

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static HIGHEST: AtomicUsize = AtomicUsize::new(0);

/// Runs `parse` on an input and panics if its memory grew by more than a fixed allowance and `multiple` bytes for
/// each byte of the input, or if it took more than five seconds.
pub fn hold<T>(input: &[u8], multiple: usize, parse: impl FnOnce(&[u8]) -> T) {
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let began = Instant::now();
    drop(black_box(parse(input)));
    let (took, time) = (PEAK.load(Relaxed).saturating_sub(before), began.elapsed());
    let allowed = FLOOR_BYTES + multiple * input.len();
    assert!(took <= allowed, "{} bytes of input took {took} bytes of memory, more than {allowed}", input.len());
    assert!(time <= MOST_TIME, "{} bytes of input took {time:?}", input.len());
    if took > HIGHEST.fetch_max(took, Relaxed) {
        eprintln!("MEMORY: {took} bytes for an input of {}", input.len());
    }
}

/// The system's allocator, and what is taken from it.
struct Counted;

impl Counted {
    fn took(bytes: usize) {
        let live = LIVE.fetch_add(bytes, Relaxed) + bytes;
        PEAK.fetch_max(live, Relaxed);
    }
}

// SAFETY: every call goes to the system's allocator as it came, or answers null, which an allocator may.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > MOST_AT_ONCE {
            return std::ptr::null_mut();
        }
        Self::took(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.size() > MOST_AT_ONCE {
            return std::ptr::null_mut();
        }
        Self::took(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size > MOST_AT_ONCE {
            return std::ptr::null_mut();
        }
        // Both are there while the content moves.
        Self::took(size);
        LIVE.fetch_sub(layout.size(), Relaxed);
        unsafe { System.realloc(pointer, layout, size) }
    }
}
