//! `sdl groups`.

use crate::cli::support::{entries, examples, repository, run, text};

#[test]
fn json_is_what_the_reference_makes_of_it() {
    for grammar in ["v2.0", "v2.1"] {
        for folder in entries(&format!("fixtures/sdl/input/{grammar}")) {
            let printed =
                run(&["sdl", "groups", "-o", "json", text(&folder.join("input.yaml"))]).quietly();
            let wanted = repository("fixtures/sdl/output-fixtures")
                .join(grammar)
                .join(folder.file_name().unwrap())
                .join("group-specs.json");
            let wanted = std::fs::read_to_string(wanted).unwrap();
            let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
            assert_eq!(json(&printed), json(&wanted), "{}", folder.display());
            assert!(printed.starts_with("[\n  {") && printed.ends_with("]\n"), "{printed}");
        }
    }
}

#[test]
fn the_table_reads_like_this() {
    let file = repository("examples/two-services.yaml");
    assert_eq!(
        run(&["sdl", "groups", text(&file)]).quietly(),
        "\
group europe
  on providers with region=eu-west
  audited by one of akash1365yvmc4s7awdyj3n2sav7xfx76adc6dnmlx63

  SERVICE  COUNT  CPU  MEMORY  STORAGE  GPU  ENDPOINTS  PRICE
  blog     1      0.5  512Mi   1Gi      -    http       1000uact
  db       1      1    1Gi     5Gi      -    -          2000uact

  At most 3000uact per block in all; prices above are for one replica.
"
    );
}

#[test]
fn the_table_fits_a_narrow_terminal() {
    let mut files = examples();
    for grammar in ["v2.0", "v2.1"] {
        let folders = entries(&format!("fixtures/sdl/input/{grammar}"));
        files.extend(folders.iter().map(|folder| folder.join("input.yaml")));
    }
    for file in files {
        let table = run(&["sdl", "groups", text(&file)]).quietly();
        for line in table.lines() {
            assert!(line.chars().count() <= 80, "{}: {line}", file.display());
        }
    }
}
