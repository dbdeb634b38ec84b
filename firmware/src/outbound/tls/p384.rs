//! ECDSA over P-384: checks signatures, and nothing else.
//!
//! The crate of that name unrolls its arithmetic: 148 KiB of flash on a Cortex-M0+, of the 320 that all of Mote is to
//! have. So the arithmetic is crypto-bigint's, in loops, and what is left is the equation. All that goes in is public and
//! nothing is kept, so that nothing has to take the same time. The tests hold it against that crate.

use p256::elliptic_curve::bigint::modular::constant_mod::ResidueParams;
use p256::elliptic_curve::bigint::{Encoding as _, U384, impl_modulus, modular::constant_mod::Residue};

impl_modulus!(
    Field,
    U384,
    "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000ffffffff"
);
impl_modulus!(
    Order,
    U384,
    "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973"
);

type Coordinate = Residue<Field, { U384::LIMBS }>;
type Scalar = Residue<Order, { U384::LIMBS }>;

const B: Coordinate = Coordinate::new(&U384::from_be_hex(
    "b3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aef",
));
const BASE: Point = Point {
    x: Coordinate::new(&U384::from_be_hex(
        "aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7",
    )),
    y: Coordinate::new(&U384::from_be_hex(
        "3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5f",
    )),
    z: Coordinate::ONE,
};

const BYTES: usize = 48;

/// Did the owner of this key sign what has this digest? `key` is an uncompressed point as SEC 1 writes it, the numbers of
/// the signature are as DER has them.
pub(super) fn is_signed(key: &[u8], digest: &[u8], r: &[u8], s: &[u8]) -> bool {
    check(key, digest, r, s).unwrap_or(false)
}

fn check(key: &[u8], digest: &[u8], r: &[u8], s: &[u8]) -> Option<bool> {
    let key = Point::parse(key)?;
    let in_order = |number: &U384| *number != U384::ZERO && *number < Order::MODULUS;
    let r = number(r).filter(in_order)?;
    let s = number(s).filter(in_order)?;
    let once = inverse(&Scalar::new(&s));
    let of_base = multiply(&Scalar::new(&number(digest)?), &once).retrieve();
    let of_key = multiply(&Scalar::new(&r), &once).retrieve();
    let sum = Point::sum(&of_base, &of_key, &key);
    // The coordinate that is signed is X / Z, and what is left of it when divided by the order is R.
    let is_x = |x: &U384| multiply(&Coordinate::new(x), &sum.z) == sum.x;
    let room = Field::MODULUS.wrapping_sub(&Order::MODULUS);
    let is_it = is_x(&r) || r < room && is_x(&r.wrapping_add(&Order::MODULUS));
    Some(sum.z != Coordinate::ZERO && is_it)
}

/// At most 48 bytes, the highest first.
fn number(bytes: &[u8]) -> Option<U384> {
    let mut all = [0; BYTES];
    let low = all.get_mut(BYTES.checked_sub(bytes.len())?..)?;
    low.iter_mut().zip(bytes).for_each(|(low, byte)| *low = *byte);
    Some(U384::from_be_bytes(all))
}

/// One of each, where it would be inlined for each use.
#[inline(never)]
fn multiply<M: ResidueParams<{ U384::LIMBS }>>(
    one: &Residue<M, { U384::LIMBS }>,
    other: &Residue<M, { U384::LIMBS }>,
) -> Residue<M, { U384::LIMBS }> {
    one.mul(other)
}

/// By Fermat: to the power of the order less two.
fn inverse(scalar: &Scalar) -> Scalar {
    let power = Order::MODULUS.wrapping_sub(&U384::from_u8(2));
    let mut inverse = Scalar::ONE;
    for bit in (0..U384::BITS).rev() {
        inverse = multiply(&inverse, &inverse);
        if power.bit_vartime(bit) {
            inverse = multiply(&inverse, scalar);
        }
    }
    inverse
}

/// A point of y² = x³ - 3x + b, in projective coordinates: X / Z and Y / Z. Where Z is zero it is the neutral one.
#[derive(Clone, Copy)]
struct Point {
    x: Coordinate,
    y: Coordinate,
    z: Coordinate,
}

impl Point {
    const NEUTRAL: Self = Self { x: Coordinate::ZERO, y: Coordinate::ONE, z: Coordinate::ZERO };

    /// A point that is on the curve.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let (4, coordinates) = bytes.split_first()? else { return None };
        let (x, y) = coordinates.split_at_checked(BYTES).filter(|(_, y)| y.len() == BYTES)?;
        let in_field = |number: &U384| *number < Field::MODULUS;
        let [x, y] = [number(x).filter(in_field)?, number(y).filter(in_field)?].map(|number| Coordinate::new(&number));
        let three = Coordinate::ONE.add(&Coordinate::ONE).add(&Coordinate::ONE);
        let right = multiply(&multiply(&x, &x).sub(&three), &x).add(&B);
        (multiply(&y, &y) == right).then_some(Self { x, y, z: Coordinate::ONE })
    }

    /// So many times the base and so many times the other one, in one go.
    fn sum(of_base: &U384, of_other: &U384, other: &Self) -> Self {
        let both = BASE.add(other);
        let mut sum = Self::NEUTRAL;
        for bit in (0..U384::BITS).rev() {
            sum = sum.add(&sum);
            match (of_base.bit_vartime(bit), of_other.bit_vartime(bit)) {
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
        let thrice = |value: Coordinate| value.add(&value).add(&value);
        let crossed = |a: &Coordinate, b: &Coordinate, c: &Coordinate, d: &Coordinate| multiply(&a.add(b), &c.add(d));
        let xx = multiply(&self.x, &other.x);
        let yy = multiply(&self.y, &other.y);
        let zz = multiply(&self.z, &other.z);
        let xy = crossed(&self.x, &self.y, &other.x, &other.y).sub(&xx).sub(&yy);
        let yz = crossed(&self.y, &self.z, &other.y, &other.z).sub(&yy).sub(&zz);
        let xz = crossed(&self.x, &self.z, &other.x, &other.z).sub(&xx).sub(&zz);
        let from_zz = thrice(xz.sub(&multiply(&B, &zz)));
        let (minus, plus) = (yy.sub(&from_zz), yy.add(&from_zz));
        let zz = thrice(zz);
        let from_xz = thrice(multiply(&B, &xz).sub(&zz).sub(&xx));
        let from_xx = thrice(xx).sub(&zz);
        Self {
            x: multiply(&plus, &xy).sub(&multiply(&yz, &from_xz)),
            y: multiply(&minus, &plus).add(&multiply(&from_xx, &from_xz)),
            z: multiply(&minus, &yz).add(&multiply(&xy, &from_xx)),
        }
    }
}

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
        (1..12_u8).map(|seed| {
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
            for at in [0, 20, 47] {
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
    fn adding_has_no_exceptions() {
        let twice = BASE.add(&BASE);
        let negative = Point { y: BASE.y.neg(), ..BASE };
        assert!(BASE.add(&negative).z == Coordinate::ZERO);
        let same = |one: &Point, other: &Point| {
            multiply(&one.x, &other.z) == multiply(&other.x, &one.z)
                && multiply(&one.y, &other.z) == multiply(&other.y, &one.z)
        };
        assert!(same(&BASE.add(&Point::NEUTRAL), &BASE));
        assert!(same(&twice.add(&negative), &BASE));
        // As often as there are points one is back at the beginning.
        let all = Point::sum(&Order::MODULUS, &U384::ZERO, &BASE);
        assert!(all.z == Coordinate::ZERO);
    }
}
