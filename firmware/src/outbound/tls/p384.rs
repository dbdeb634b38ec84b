//! ECDSA over P-384: checks signatures, and nothing else.
//!
//! The crate of that name unrolls its arithmetic: 148 KiB of flash on a Cortex-M0+, of the 320 that all of Mote is to
//! have. This is in loops, of which the innermost is made for processors that multiply 32 bits to 32: crypto-bigint's
//! takes 1.7 times as long. All that goes in is public and nothing is kept, so that nothing has to take the same time. The
//! tests hold it against that crate.

const BYTES: usize = 48;
const WORDS: usize = BYTES / 4;
const BITS: usize = BYTES * 8;

/// Did the owner of this key sign what has this digest? `key` is an uncompressed point as SEC 1 writes it, the numbers of
/// the signature are as DER has them.
pub(super) fn is_signed(key: &[u8], digest: &[u8], r: &[u8], s: &[u8]) -> bool {
    check(key, digest, r, s).unwrap_or(false)
}

fn check(key: &[u8], digest: &[u8], r: &[u8], s: &[u8]) -> Option<bool> {
    let key = Point::parse(key)?;
    let in_order = |number: &Number| !number.is_zero() && number.is_below(&ORDER.number);
    let r = Number::parse(r).filter(in_order)?;
    let s = Number::parse(s).filter(in_order)?;
    let once = ORDER.invert(&ORDER.enter(&s));
    let of_base = ORDER.leave(&ORDER.multiply(&ORDER.enter(&Number::parse(digest)?), &once));
    let of_key = ORDER.leave(&ORDER.multiply(&ORDER.enter(&r), &once));
    let sum = Point::sum(&of_base, &of_key, &key);
    // The coordinate that is signed is X / Z, and what is left of it when divided by the order is R.
    let is_x = |x: &Number| FIELD.multiply(&FIELD.enter(x), &sum.z) == sum.x;
    let (above, is_beyond) = r.plus(&ORDER.number);
    let is_it = is_x(&r) || !is_beyond && above.is_below(&FIELD.number) && is_x(&above);
    Some(!sum.z.is_zero() && is_it)
}

/// A number, the lowest word first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Number([u32; WORDS]);

impl Number {
    const ZERO: Self = Self([0; WORDS]);

    /// At most 48 bytes, the highest first.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut number = Self::ZERO;
        if bytes.len() > BYTES {
            return None;
        }
        for (word, bytes) in number.0.iter_mut().zip(bytes.rchunks(4)) {
            *word = bytes.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
        }
        Some(number)
    }

    fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }

    fn is_below(&self, other: &Self) -> bool {
        self.minus(other).1
    }

    fn bit(&self, at: usize) -> bool {
        self.0.get(at / 32).is_some_and(|word| word >> (at % 32) & 1 == 1)
    }

    /// The sum, and whether it is too large by one bit.
    fn plus(&self, other: &Self) -> (Self, bool) {
        let (mut sum, mut carry) = (*self, false);
        for at in 0..WORDS {
            let (half, first) = sum.0[at].overflowing_add(other.0[at]);
            let (whole, second) = half.overflowing_add(u32::from(carry));
            (sum.0[at], carry) = (whole, first | second);
        }
        (sum, carry)
    }

    /// The difference, and whether it is below zero.
    fn minus(&self, other: &Self) -> (Self, bool) {
        let (mut difference, mut borrow) = (*self, false);
        for at in 0..WORDS {
            let (half, first) = difference.0[at].overflowing_sub(other.0[at]);
            let (whole, second) = half.overflowing_sub(u32::from(borrow));
            (difference.0[at], borrow) = (whole, first | second);
        }
        (difference, borrow)
    }
}

/// Numbers modulo a prime, in Montgomery's form: each is multiplied by 2^384.
struct Modulus {
    number: Number,
    /// What makes the lowest word of a multiple of it zero: -1 / number, modulo 2^32.
    complement: u32,
    /// 2^384 in this form.
    square: Number,
}

impl Modulus {
    /// Takes a number into this form; it may be any.
    fn enter(&self, number: &Number) -> Number {
        self.multiply(number, &self.square)
    }

    fn leave(&self, number: &Number) -> Number {
        let mut one = Number::ZERO;
        one.0[0] = 1;
        self.multiply(number, &one)
    }

    #[inline(never)]
    fn add(&self, one: &Number, other: &Number) -> Number {
        let (sum, is_beyond) = one.plus(other);
        let (less, is_below) = sum.minus(&self.number);
        if is_beyond || !is_below { less } else { sum }
    }

    #[inline(never)]
    fn subtract(&self, one: &Number, other: &Number) -> Number {
        let (difference, is_below) = one.minus(other);
        if is_below { difference.plus(&self.number).0 } else { difference }
    }

    /// Multiplies word by word, and takes multiples of the modulus away from below as it goes (Montgomery 1985).
    #[inline(never)]
    fn multiply(&self, one: &Number, other: &Number) -> Number {
        let mut sum = Number::ZERO;
        let mut top = 0_u32;
        for factor in &other.0 {
            let factor = *factor;
            let mut carry = 0;
            // Not two iterators side by side: where code is to be small, each step of those is a call.
            for at in 0..WORDS {
                (sum.0[at], carry) = multiply_add(one.0[at], factor, sum.0[at], carry);
            }
            let (high, is_beyond) = top.overflowing_add(carry);
            let times = sum.0[0].wrapping_mul(self.complement);
            let mut carry = multiply_add(times, self.number.0[0], sum.0[0], 0).1;
            for at in 1..WORDS {
                (sum.0[at - 1], carry) = multiply_add(times, self.number.0[at], sum.0[at], carry);
            }
            let (high, is_too) = high.overflowing_add(carry);
            sum.0[WORDS - 1] = high;
            top = u32::from(is_beyond) | u32::from(is_too);
        }
        let (less, is_below) = sum.minus(&self.number);
        if top != 0 || !is_below { less } else { sum }
    }

    /// By Fermat: to the power of the modulus less two.
    fn invert(&self, number: &Number) -> Number {
        let mut two = Number::ZERO;
        two.0[0] = 2;
        let (power, _) = self.number.minus(&two);
        // The highest bit of both moduli is set.
        let mut inverse = *number;
        for bit in (0..BITS - 1).rev() {
            inverse = self.multiply(&inverse, &inverse);
            if power.bit(bit) {
                inverse = self.multiply(&inverse, number);
            }
        }
        inverse
    }
}

/// `one * other + third + fourth`, low and high, which always fits. The product is put together from halves: a
/// Cortex-M0+ has no other, and a call for it takes longer.
#[inline(always)]
fn multiply_add(one: u32, other: u32, third: u32, fourth: u32) -> (u32, u32) {
    let (one_low, one_high) = (one & 0xffff, one >> 16);
    let (other_low, other_high) = (other & 0xffff, other >> 16);
    let low = one_low.wrapping_mul(other_low);
    let (cross, other_cross) = (one_low.wrapping_mul(other_high), one_high.wrapping_mul(other_low));
    let middle = (low >> 16).wrapping_add(cross & 0xffff).wrapping_add(other_cross & 0xffff);
    let mut high = one_high.wrapping_mul(other_high);
    high = high.wrapping_add(cross >> 16).wrapping_add(other_cross >> 16).wrapping_add(middle >> 16);
    let product = u64::from(high) << 32 | u64::from(low & 0xffff | middle << 16);
    let sum = product.wrapping_add(third.into()).wrapping_add(fourth.into());
    (sum as u32, (sum >> 32) as u32)
}

/// A point of y² = x³ - 3x + b, in projective coordinates: X / Z and Y / Z. Where Z is zero it is the neutral one.
#[derive(Clone, Copy)]
struct Point {
    x: Number,
    y: Number,
    z: Number,
}

impl Point {
    const NEUTRAL: Self = Self { x: Number::ZERO, y: ONE, z: Number::ZERO };

    /// A point that is on the curve.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let (4, coordinates) = bytes.split_first()? else { return None };
        let (x, y) = coordinates.split_at_checked(BYTES).filter(|(_, y)| y.len() == BYTES)?;
        let coordinate = |bytes| {
            let number = Number::parse(bytes).filter(|number| number.is_below(&FIELD.number))?;
            Some(FIELD.enter(&number))
        };
        let (x, y) = (coordinate(x)?, coordinate(y)?);
        let right = FIELD.subtract(&FIELD.multiply(&x, &x), &thrice(&ONE));
        let right = FIELD.add(&FIELD.multiply(&right, &x), &B);
        (FIELD.multiply(&y, &y) == right).then_some(Self { x, y, z: ONE })
    }

    /// So many times the base and so many times the other one, in one go.
    fn sum(of_base: &Number, of_other: &Number, other: &Self) -> Self {
        let both = BASE.add(other);
        let mut sum = Self::NEUTRAL;
        for bit in (0..BITS).rev() {
            sum = sum.add(&sum);
            match (of_base.bit(bit), of_other.bit(bit)) {
                (true, true) => sum = sum.add(&both),
                (true, false) => sum = sum.add(&BASE),
                (false, true) => sum = sum.add(other),
                (false, false) => {}
            }
        }
        sum
    }

    /// The sum of any two, also of one and itself: the complete formula of Renes, Costello and Batina for a = -3
    /// (<https://eprint.iacr.org/2015/1060>, algorithm 4).
    #[inline(never)]
    fn add(&self, other: &Self) -> Self {
        let add = |a: &Number, b: &Number| FIELD.add(a, b);
        let subtract = |a: &Number, b: &Number| FIELD.subtract(a, b);
        let multiply = |a: &Number, b: &Number| FIELD.multiply(a, b);
        let crossed = |[a, b]: [&Number; 2], [c, d]: [&Number; 2], squares: [&Number; 2]| {
            let both = multiply(&add(a, b), &add(c, d));
            subtract(&both, &add(squares[0], squares[1]))
        };
        let xx = multiply(&self.x, &other.x);
        let yy = multiply(&self.y, &other.y);
        let zz = multiply(&self.z, &other.z);
        let xy = crossed([&self.x, &self.y], [&other.x, &other.y], [&xx, &yy]);
        let yz = crossed([&self.y, &self.z], [&other.y, &other.z], [&yy, &zz]);
        let xz = crossed([&self.x, &self.z], [&other.x, &other.z], [&xx, &zz]);
        let from_zz = thrice(&subtract(&xz, &multiply(&B, &zz)));
        let (minus, plus) = (subtract(&yy, &from_zz), add(&yy, &from_zz));
        let zz = thrice(&zz);
        let from_xz = thrice(&subtract(&subtract(&multiply(&B, &xz), &zz), &xx));
        let from_xx = subtract(&thrice(&xx), &zz);
        Self {
            x: subtract(&multiply(&plus, &xy), &multiply(&yz, &from_xz)),
            y: add(&multiply(&minus, &plus), &multiply(&from_xx, &from_xz)),
            z: add(&multiply(&minus, &yz), &multiply(&xy, &from_xx)),
        }
    }
}

fn thrice(number: &Number) -> Number {
    FIELD.add(&FIELD.add(number, number), number)
}

/// Of the coordinates: 2^384 - 2^128 - 2^96 + 2^32 - 1.
static FIELD: Modulus = Modulus {
    number: Number([
        0xffff_ffff,
        0x0000_0000,
        0x0000_0000,
        0xffff_ffff,
        0xffff_fffe,
        0xffff_ffff,
        0xffff_ffff,
        0xffff_ffff,
        0xffff_ffff,
        0xffff_ffff,
        0xffff_ffff,
        0xffff_ffff,
    ]),
    complement: 0x0000_0001,
    square: Number([
        0x0000_0001,
        0xffff_fffe,
        0x0000_0000,
        0x0000_0002,
        0x0000_0000,
        0xffff_fffe,
        0x0000_0000,
        0x0000_0002,
        0x0000_0001,
        0x0000_0000,
        0x0000_0000,
        0x0000_0000,
    ]),
};
/// Of the points.
static ORDER: Modulus = Modulus {
    number: Number([
        0xccc5_2973,
        0xecec_196a,
        0x48b0_a77a,
        0x581a_0db2,
        0xf437_2ddf,
        0xc763_4d81,
        0xffff_ffff,
        0xffff_ffff,
        0xffff_ffff,
        0xffff_ffff,
        0xffff_ffff,
        0xffff_ffff,
    ]),
    complement: 0xe88f_dc45,
    square: Number([
        0x19b4_09a9,
        0x2d31_9b24,
        0xdf1a_a419,
        0xff3d_81e5,
        0xfcb8_2947,
        0xbc3e_483a,
        0x4aab_1cc5,
        0xd40d_4917,
        0x2826_6895,
        0x3fb0_5b7a,
        0x2b39_bf21,
        0x0c84_ee01,
    ]),
};
/// 1, in Montgomery's form, as are the others.
const ONE: Number = Number([
    0x0000_0001,
    0xffff_ffff,
    0xffff_ffff,
    0x0000_0000,
    0x0000_0001,
    0x0000_0000,
    0x0000_0000,
    0x0000_0000,
    0x0000_0000,
    0x0000_0000,
    0x0000_0000,
    0x0000_0000,
]);
const B: Number = Number([
    0x9d41_2dcc,
    0x0811_8871,
    0x7a4c_32ec,
    0xf729_add8,
    0x1920_022e,
    0x77f2_209b,
    0x9493_8ae2,
    0xe337_4bee,
    0x1f02_2094,
    0xb62b_21f4,
    0x604f_bff9,
    0xcd08_114b,
]);
const BASE: Point = Point {
    x: Number([
        0x49c0_b528,
        0x3dd0_7566,
        0xa0d6_ce38,
        0x20e3_78e2,
        0x541b_4d6e,
        0x879c_3afc,
        0x59a3_0eff,
        0x6454_8684,
        0x614e_de2b,
        0x812f_f723,
        0x299e_1513,
        0x4d3a_adc2,
    ]),
    y: Number([
        0x4b03_a4fe,
        0x2304_3dad,
        0x7bb4_a9ac,
        0xa1bf_a8bf,
        0x2e83_b050,
        0x8bad_e756,
        0x68f4_ffd9,
        0xc6c3_5219,
        0x3969_a840,
        0xdd80_0226,
        0x5a15_c5e9,
        0x2b78_abc2,
    ]),
    z: ONE,
};

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use p384::{
        ecdsa::{Signature, SigningKey, signature::hazmat::PrehashSigner as _},
        elliptic_curve::{Curve as _, bigint::Encoding as _},
    };

    use super::*;

    /// Keys and digests, the same every time.
    fn signed() -> impl Iterator<Item = (Vec<u8>, Vec<u8>, Signature)> {
        (1..4_u8).map(|seed| {
            let mut secret = [seed; BYTES];
            secret[0] = 0x7f;
            let key = SigningKey::from_slice(&secret).unwrap();
            let digest: Vec<u8> =
                (0..if seed % 2 == 0 { 32 } else { 48 }).map(|at: u8| at.wrapping_mul(7).wrapping_add(seed)).collect();
            let signature = key.sign_prehash(&digest).unwrap();
            (key.verifying_key().to_encoded_point(false).as_bytes().to_vec(), digest, signature)
        })
    }

    #[test]
    fn what_another_signs_is_signed_and_nothing_else_is() {
        for (key, digest, signature) in signed() {
            let (r, s) = signature.split_bytes();
            assert!(is_signed(&key, &digest, &r, &s));
            // The other one that is always right, too.
            let negative = (-*signature.s().as_ref()).to_bytes();
            assert!(is_signed(&key, &digest, &r, &negative));
            for at in [0, 47] {
                let changed = |bytes: &[u8]| {
                    let mut bytes = bytes.to_vec();
                    let at = at % bytes.len();
                    bytes[at] ^= 1;
                    bytes
                };
                assert!(!is_signed(&key, &changed(&digest), &r, &s));
                assert!(!is_signed(&key, &digest, &changed(&r), &s));
                assert!(!is_signed(&key, &digest, &r, &changed(&s)));
                assert!(!is_signed(&changed(&key), &digest, &r, &s));
            }
            assert!(!is_signed(&key, &digest, &s, &r));
        }
    }

    #[test]
    fn numbers_that_are_none_of_the_curve_are_refused() {
        let (key, digest, signature) = signed().next().unwrap();
        let (r, s) = signature.split_bytes();
        let order = p384::NistP384::ORDER.to_be_bytes();
        for bad in [&[][..], &[0], &[0; BYTES], &order, &[0xff; BYTES], &[1; BYTES + 1]] {
            assert!(!is_signed(&key, &digest, bad, &s));
            assert!(!is_signed(&key, &digest, &r, bad));
        }
        // The same number, too large by the order; another form of the point, half a point, none, and one too large.
        let mut compressed = key[..=BYTES].to_vec();
        compressed[0] = 2 + (key[2 * BYTES] & 1);
        let large = [&[4][..], &[0xff; 2 * BYTES]].concat();
        for bad in [&compressed[..], &key[..BYTES + 1], &key[1..], &[], &[0], &large] {
            assert!(!is_signed(bad, &digest, &r, &s));
        }
    }

    #[test]
    fn constants_are_what_they_are_said_to_be() {
        let number = |hex: &str| {
            let bytes: Vec<u8> = (0..BYTES).map(|at| u8::from_str_radix(&hex[2 * at..][..2], 16).unwrap()).collect();
            Number::parse(&bytes).unwrap()
        };
        // NIST SP 800-186 §3.2.1.4.
        let x = "aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7";
        let y = "3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5f";
        let b = "b3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aef";
        let p = "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000ffffffff";
        assert_eq!([BASE.x, BASE.y, B].map(|value| FIELD.leave(&value)), [x, y, b].map(number));
        assert_eq!(FIELD.number, number(p));
        assert_eq!(ORDER.number, Number::parse(&p384::NistP384::ORDER.to_be_bytes()).unwrap());
        let mut one = Number::ZERO;
        one.0[0] = 1;
        assert_eq!(FIELD.leave(&ONE), one);
        for modulus in [&FIELD, &ORDER] {
            // Whatever comes in, what comes out is below the modulus.
            let most = Number([u32::MAX; WORDS]);
            let (left, _) = most.minus(&modulus.number);
            assert_eq!(modulus.leave(&modulus.enter(&most)), left);
            assert_eq!(
                modulus.leave(&modulus.multiply(&modulus.invert(&modulus.enter(&left)), &modulus.enter(&left))),
                one
            );
        }
    }

    #[test]
    fn words_are_multiplied_as_others_do_it() {
        let odd = [0, 1, 2, 0xffff, 0x1_0000, 0x1_0001, 0x7fff_ffff, 0x8000_0000, 0xffff_0000, 0xdead_beef, u32::MAX];
        for one in odd {
            for other in odd {
                for third in odd {
                    for fourth in odd {
                        let wide = u64::from(one) * u64::from(other) + u64::from(third) + u64::from(fourth);
                        assert_eq!(multiply_add(one, other, third, fourth), (wide as u32, (wide >> 32) as u32));
                    }
                }
            }
        }
    }

    #[test]
    fn adding_has_no_exceptions() {
        let twice = BASE.add(&BASE);
        let negative = Point { y: FIELD.subtract(&Number::ZERO, &BASE.y), ..BASE };
        assert!(BASE.add(&negative).z.is_zero());
        let same = |one: &Point, other: &Point| {
            FIELD.multiply(&one.x, &other.z) == FIELD.multiply(&other.x, &one.z)
                && FIELD.multiply(&one.y, &other.z) == FIELD.multiply(&other.y, &one.z)
        };
        assert!(same(&BASE.add(&Point::NEUTRAL), &BASE));
        assert!(same(&twice.add(&negative), &BASE));
        // As often as there are points one is back at the beginning.
        assert!(Point::sum(&ORDER.number, &Number::ZERO, &BASE).z.is_zero());
    }
}
