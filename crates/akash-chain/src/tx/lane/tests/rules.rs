use super::build::config;
#[test]
fn x() {
    let _ = config();
}
