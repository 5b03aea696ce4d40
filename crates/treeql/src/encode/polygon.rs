//! Rectangles on the map, `bbox` and `tile`, as polygons in well-known text for a filter on a geometry (SPEC 14).

use std::f64::consts::PI;

use crate::encode::double::write_double_text;

/// limit: the finest tiles; a thousand times finer than maps have.
const ZOOM_MAX: u32 = 30;

/// The polygon of `x1,y1,x2,y2`; the error is a sentence for the caller.
///
/// ```
/// use treeql::encode::bbox_polygon;
///
/// assert_eq!(bbox_polygon("4,52,4.5,53"), Ok("POLYGON((4 52,4.5 52,4.5 53,4 53,4 52))".to_owned()));
/// ```
pub fn bbox_polygon(bbox: &str) -> Result<String, String> {
    let numbers: Vec<f64> = bbox.split(',').filter_map(|part| part.trim().parse().ok()).collect();
    match numbers[..] {
        [x1, y1, x2, y2]
            if bbox.split(',').count() == 4 && numbers.iter().all(|number| number.is_finite()) =>
        {
            Ok(rectangle((x1, y1), (x2, y2)))
        }
        _ => Err(format!("'{}' is no box; give x1,y1,x2,y2 as numbers", bbox.escape_debug())),
    }
}

/// The polygon, in degrees, of the tile `z,x,y` of a web map; the error is a sentence for the caller.
///
/// ```
/// use treeql::encode::tile_polygon;
///
/// let polygon = "POLYGON((0 66.513260443112,90 66.513260443112,90 0,0 0,0 66.513260443112))";
/// assert_eq!(tile_polygon("2,2,1"), Ok(polygon.to_owned()));
/// ```
pub fn tile_polygon(tile: &str) -> Result<String, String> {
    let numbers: Vec<u32> = tile.split(',').filter_map(|part| part.trim().parse().ok()).collect();
    match numbers[..] {
        [z, x, y] if tile.split(',').count() == 3 && z <= ZOOM_MAX && x.max(y) < 1 << z => {
            Ok(rectangle(corner(z, x, y), corner(z, x + 1, y + 1)))
        }
        _ => Err(format!(
            "'{}' is no tile; give z,x,y as whole numbers, z up to {ZOOM_MAX}, x and y below 2^z",
            tile.escape_debug()
        )),
    }
}

/// Longitude and latitude of the upper left corner of a tile.
fn corner(z: u32, x: u32, y: u32) -> (f64, f64) {
    let tiles = f64::from(1u32 << z);
    let longitude = f64::from(x) / tiles * 360.0 - 180.0;
    let latitude = (PI * (1.0 - 2.0 * f64::from(y) / tiles)).sinh().atan().to_degrees();
    (longitude, latitude)
}

/// compat: numbers have 14 digits, as PHP turns them into text.
fn rectangle((x1, y1): (f64, f64), (x2, y2): (f64, f64)) -> String {
    let mut out = b"POLYGON((".to_vec();
    for (index, (x, y)) in [(x1, y1), (x2, y1), (x2, y2), (x1, y2), (x1, y1)].into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        // A zero without its sign.
        write_double_text(&mut out, x + 0.0);
        out.push(b' ');
        write_double_text(&mut out, y + 0.0);
    }
    out.extend_from_slice(b"))");
    out.into_iter().map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use proptest::proptest;

    use crate::encode::polygon::{bbox_polygon, tile_polygon};
    use crate::encode::wkt::write_geometry;

    #[test]
    fn a_box_has_four_numbers() {
        let table = [
            ("1,2,3,4", "POLYGON((1 2,3 2,3 4,1 4,1 2))"),
            (" -1.50, 2e1 ,3,.5", "POLYGON((-1.5 20,3 20,3 0.5,-1.5 0.5,-1.5 20))"),
            ("-0,0,1,0.00001", "POLYGON((0 0,1 0,1 1.0E-5,0 1.0E-5,0 0))"),
            ("0,0,1,5.123456789012345", "POLYGON((0 0,1 0,1 5.1234567890123,0 5.1234567890123,0 0))"),
        ];
        for (bbox, polygon) in table {
            assert_eq!(bbox_polygon(bbox), Ok(polygon.to_owned()), "{bbox}");
        }
        for bbox in [
            "",
            "1,2,3",
            "1,2,3,4,5",
            "1,2,3,x",
            "1,2,3,4,x",
            "1,,2,3,4",
            "1,2,3,nan",
            "1,2,3,inf",
            "1 2 3 4",
        ] {
            assert!(bbox_polygon(bbox).is_err_and(|e| e.contains("x1,y1,x2,y2")), "{bbox}");
        }
    }

    #[test]
    fn a_tile_is_a_part_of_the_world() {
        let table = [
            (
                "0,0,0",
                "POLYGON((-180 85.051128779807,180 85.051128779807,180 -85.051128779807,-180 -85.051128779807,-180 85.051128779807))",
            ),
            ("1,1,1", "POLYGON((0 0,180 0,180 -85.051128779807,0 -85.051128779807,0 0))"),
            (
                "10,526,336",
                "POLYGON((4.921875 52.482780222078,5.2734375 52.482780222078,5.2734375 52.268157373768,4.921875 52.268157373768,4.921875 52.482780222078))",
            ),
        ];
        for (tile, polygon) in table {
            assert_eq!(tile_polygon(tile), Ok(polygon.to_owned()), "{tile}");
        }
        for tile in ["", "1,2", "1,2,0", "1,0,2", "1,-1,0", "31,0,0", "1,0,0,0", "1,0.5,0", "a,b,c", "0,0,1"]
        {
            assert!(tile_polygon(tile).is_err_and(|e| e.contains("z,x,y")), "{tile}");
        }
        assert!(tile_polygon("30,1073741823,1073741823").is_ok());
    }

    proptest! {
        #[test]
        fn a_polygon_is_well_known_text(bbox in "-?[0-9]{1,3}(\\.[0-9]{1,20})?(,-?[0-9]{1,3}(e-?[0-9])?){3}", z in 0..=30u32, x: u32, y: u32) {
            let tile = format!("{z},{},{}", x >> (32 - z).min(31), y >> (32 - z).min(31));
            let polygons = [bbox_polygon(&bbox).expect("it is a box")].into_iter().chain(tile_polygon(&tile).ok());
            for polygon in polygons {
                write_geometry(&mut Vec::new(), &polygon).expect("it is WKT");
            }
        }

        #[test]
        fn nothing_makes_it_panic(text in "\\PC{0,20}|[0-9,.e-]{0,20}") {
            drop((bbox_polygon(&text), tile_polygon(&text)));
        }
    }
}
