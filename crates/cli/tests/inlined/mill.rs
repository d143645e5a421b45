//! With `--cfg apart`, functions are not inlined. `black_box` keeps the compiler from seeing through a call.

use std::hint::black_box;

struct Wheel {
    state: u64,
}

impl Wheel {
    #[cfg_attr(apart, inline(never))]
    #[cfg_attr(not(apart), inline(always))]
    fn turn(&mut self, times: u32) {
        let mut next = self.state;
        let mut nth = 0;
        while nth < times {
            next = black_box(next.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
            nth += 1;
        }
        self.state = next;
    }
}

#[cfg_attr(apart, inline(never))]
#[cfg_attr(not(apart), inline(always))]
fn grind<N: Copy + std::ops::BitXor<Output = N> + std::ops::Shl<u32, Output = N>>(mut grain: N, times: u32) -> N {
    let mut nth = 0;
    while nth < times {
        grain = black_box(grain ^ grain << 7);
        nth += 1;
    }
    grain
}

#[cfg_attr(apart, inline(never))]
#[cfg_attr(not(apart), inline(always))]
fn sift(wheel: &mut Wheel, times: u32) -> u64 {
    let mut sum = 0u64;
    let mut nth = 0;
    while nth < times {
        wheel.turn(black_box(8));
        sum = black_box(sum.wrapping_add(grind(wheel.state, black_box(12))));
        nth += 1;
    }
    sum
}

fn main() {
    let mut wheel = Wheel { state: 1 };
    let mut sum = 0u64;
    let mut nth = 0;
    while nth < 300 {
        sum = sum.wrapping_add(sift(&mut wheel, black_box(10)));
        sum = black_box(sum ^ u64::from(grind(sum as u32, black_box(40))));
        nth += 1;
    }
    println!("{sum}");
}
