//! The normal, beta and t distributions: shares below a point, and the point below which a share lies.

/// The share of a standard normal distribution below `x`, by the series of Marsaglia (2004).
pub fn cumulative(x: f64) -> f64 {
    if x.abs() > 8.0 || x.is_nan() {
        return if x > 0.0 { 1.0 } else { 0.0 };
    }
    let (mut sum, mut term, mut step) = (x, x, 1.0);
    while sum + term != sum || step < x.abs() {
        step += 2.0;
        term *= x * x / step;
        sum += term;
    }
    0.5 + sum * libm::exp(-x * x / 2.0) / (2.0 * std::f64::consts::PI).sqrt()
}

/// The `x` below which that share of a standard normal distribution lies, by halving; within 8 of the middle.
pub fn quantile(share: f64) -> f64 {
    halved(-8.0, 8.0, 60, |x| cumulative(x) < share)
}

/// The normal deviate of a two-sided level: 1.96 for 95 %.
pub fn two_sided(level: f64) -> f64 {
    quantile(0.5 + level / 2.0)
}

/// The share of a beta distribution below `x`: the regularised incomplete beta function `I_x(a, b)`, by its continued
/// fraction (Abramowitz and Stegun 26.5.8) on the side where that converges quickly. `a` and `b` are above 0.
pub fn beta_cumulative(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front = libm::exp(a * libm::log(x) + b * libm::log1p(-x) + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b));
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(a, b, x) / a
    } else {
        1.0 - front * fraction(b, a, 1.0 - x) / b
    }
}

/// The `x` below which that share of a beta distribution lies, by halving.
pub fn beta_quantile(a: f64, b: f64, share: f64) -> f64 {
    halved(0.0, 1.0, HALVINGS, |x| beta_cumulative(a, b, x) < share)
}

/// The `t` so that a t distribution lies between −t and t with probability `level`.
pub fn t_two_sided(freedom: f64, level: f64) -> f64 {
    let inside = |t: f64| beta_cumulative(0.5, freedom / 2.0, t * t / (freedom + t * t));
    let mut high = 2.0;
    while inside(high) < level && high < 1e9 {
        high *= 2.0;
    }
    halved(0.0, high, HALVINGS, |t| inside(t) < level)
}

/// How many halvings leave nothing of a double's digits.
const HALVINGS: usize = 64;

/// Where `below` turns false between two points.
fn halved(mut low: f64, mut high: f64, halvings: usize, below: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..halvings {
        let middle = (low + high) / 2.0;
        if below(middle) { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// The continued fraction of the incomplete beta function, by the modified method of Lentz.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const LEAST: f64 = 1e-300;
    let away = |v: f64| if v.abs() < LEAST { LEAST } else { v };
    let mut numerator = 1.0;
    let mut denominator = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut value = denominator;
    for step in 1..10_000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        denominator = 1.0 / away(1.0 + even * denominator);
        numerator = away(1.0 + even / numerator);
        value *= denominator * numerator;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        denominator = 1.0 / away(1.0 + odd * denominator);
        numerator = away(1.0 + odd / numerator);
        let change = denominator * numerator;
        value *= change;
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// The logarithm of the gamma function of a number above 0, by Stirling's series once the number is large enough.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut product) = (x, 1.0);
    while x < 15.0 {
        product *= x;
        x += 1.0;
    }
    let r = 1.0 / (x * x);
    let series = (1.0 / 12.0 - r * (1.0 / 360.0 - r * (1.0 / 1260.0 - r * (1.0 / 1680.0 - r / 1188.0)))) / x;
    (x - 0.5) * libm::log(x) - x + 0.5 * libm::log(2.0 * std::f64::consts::PI) + series - libm::log(product)
}
