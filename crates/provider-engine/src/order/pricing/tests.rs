//! Expected values are computed by hand from the formulas of the Go provider.

use akash_types::{
    Address, Attribute, DecCoin, Endpoint, EndpointKind, GroupSpec, ResourceUnit, Resources,
    Storage,
};
use proptest::prelude::*;

use super::*;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

fn volume(quantity: u64, attributes: &[(&str, &str)]) -> Storage {
    let attributes = attributes.iter().map(|(key, value)| Attribute::new(*key, *value)).collect();
    Storage { name: "default".to_owned(), quantity, attributes }
}

fn unit(id: u32, count: u32, cpu: u64, memory: u64, storage: Vec<Storage>) -> ResourceUnit {
    let mut resources = Resources { id, storage, ..Resources::default() };
    resources.cpu.units = cpu;
    resources.memory.quantity = memory;
    ResourceUnit { resources, count, price: "1000uact".parse().unwrap() }
}

fn group(resources: Vec<ResourceUnit>) -> GroupSpec {
    let requirements = akash_types::PlacementRequirements::default();
    GroupSpec { name: "west".to_owned(), requirements, resources }
}

fn scales(cpu: &str, memory: &str, storage: &str, endpoint: &str, ip: &str) -> Scales {
    let decimal = |text| Decimal::parse(text).unwrap();
    Scales {
        cpu: decimal(cpu),
        memory: decimal(memory),
        storage: Scales::parse_storage(storage).unwrap(),
        endpoint: decimal(endpoint),
        ip: decimal(ip),
    }
}

fn coin(text: &str) -> DecCoin {
    text.parse().unwrap()
}

fn ends(kinds: &[(EndpointKind, u32)]) -> Vec<Endpoint> {
    kinds.iter().map(|(kind, number)| Endpoint { kind: *kind, sequence_number: *number }).collect()
}

#[test]
fn scale_adds_up_every_resource() {
    let persistent = [("class", "beta2"), ("persistent", "true")];
    let ram = [("class", "ram"), ("persistent", "false")];
    let mut a = unit(1, 2, 1500, 512 * MIB, vec![volume(GIB, &[]), volume(2 * GIB, &persistent)]);
    a.resources.endpoints = ends(&[
        (EndpointKind::SharedHttp, 0),
        (EndpointKind::LeasedIp, 1),
        (EndpointKind::LeasedIp, 2),
    ]);
    a.resources.gpu.units = 8;
    let mut b = unit(2, 1, 100, 256 * MIB, vec![volume(64 * MIB, &ram)]);
    b.resources.endpoints = ends(&[(EndpointKind::RandomPort, 0), (EndpointKind::LeasedIp, 2)]);
    let group = group(vec![a, b]);
    for (scales, price) in [
        // 2 × 1500 + 100 = 3100 thousandths of a core.
        (scales("0.01", "0", "0,beta2=0", "0", "0"), "31uact"),
        // 2 × 512 + 256 = 1280 MiB.
        (scales("0", "0.5", "0,beta2=0", "0", "0"), "640uact"),
        // 2 × 1024 + 64 MiB: a ram volume is ephemeral here. 2 × 2048 MiB of beta2.
        (scales("0", "0", "0.001,beta2=0", "0", "0"), "2.112uact"),
        (scales("0", "0", "0,beta2=0.01", "0", "0"), "40.96uact"),
        // Five endpoints, whatever the count; two addresses, of which one is shared.
        (scales("0", "0", "0,beta2=0", "3", "0"), "15uact"),
        (scales("0", "0", "0,beta2=0", "0", "7"), "14uact"),
        // 31 + 640 + 2.112 + 40.96 + 15 + 14.
        (scales("0.01", "0.5", "0.001,beta2=0.01", "3", "7"), "743.072uact"),
    ] {
        assert_eq!(scales.price(&group), Ok(coin(price)));
    }
}

#[test]
fn mebibytes_are_rounded_at_sixteen_places() {
    // 1 byte = 0.00000095367431640625 MiB, at 16 places 0.0000009536743164.
    let byte = group(vec![unit(1, 1, 0, 1, vec![])]);
    let price = scales("0", "1", "0", "0", "0").price(&byte);
    assert_eq!(price, Ok(coin("0.0000009536743164uact")));
    // 2 bytes: …9073486328125, the 17th place is 2; 10 bytes: 0.0000095367431640625, 5 is rounded up.
    let bytes = |count| group(vec![unit(1, count, 0, 1, vec![])]);
    let price = |count| scales("0", "1", "0", "0", "0").price(&bytes(count));
    assert_eq!(price(2), Ok(coin("0.0000019073486328uact")));
    assert_eq!(price(20), Ok(coin("0.0000190734863281uact")));
    assert_eq!(price(200), Ok(coin("0.0001907348632813uact")));
}

#[test]
fn prices_that_the_chain_cannot_take_are_errors() {
    let small = group(vec![unit(1, 1, 1, MIB, vec![volume(MIB, &[])])]);
    let odd = group(vec![unit(1, 1, 1, 1, vec![])]);
    for (group, scales, error) in [
        (&small, scales("0", "0", "0", "5", "0"), PriceError::Zero),
        (&small, scales("1", "0", "", "0", "0"), PriceError::NoScale { class: "ephemeral".into() }),
        (&small, scales("1e-19", "0", "0", "0", "0"), PriceError::TooPrecise { places: 19 }),
        // 16 places times 3.
        (&odd, scales("0", "0.001", "0", "0", "0"), PriceError::TooPrecise { places: 19 }),
        (&small, scales("1000000000000000001", "0", "0", "0", "0"), PriceError::TooLarge),
        (&small, scales("1e30", "0", "0", "0", "0"), PriceError::TooLarge),
        (
            &small,
            scales("-1", "0", "0", "0", "0"),
            PriceError::Negative { price: "-1".parse().unwrap() },
        ),
    ] {
        assert_eq!(scales.price(group), Err(error), "{scales:?}");
    }
    let most = scales("1000000000000000000", "0", "0", "0", "0").price(&small);
    assert_eq!(most, Ok(coin("1000000000000000000uact")));
    // Zeros at the end are no digits: 100 × 10^-20.
    let hundred = group(vec![unit(1, 1, 100, MIB, vec![])]);
    let price = scales("0.00000000000000000001", "0", "0", "0", "0").price(&hundred);
    assert_eq!(price, Ok(coin("0.000000000000000001uact")));
}

#[test]
fn scales_that_cannot_be_meant_are_refused() {
    let negative = |what: &str| Err(ScalesError::Negative { what: what.to_owned() });
    for (scales, result) in [
        (scales("0", "0", "", "0", "0"), Err(ScalesError::AllZero)),
        (scales("0", "0", "0", "0", "0"), Err(ScalesError::AllZero)),
        // Storage counts as zero when one class is.
        (scales("0", "0", "0.1,beta2=0", "0", "0"), Err(ScalesError::AllZero)),
        (scales("0", "0", "0.1,beta2=0.2", "0", "0"), Ok(())),
        (scales("1", "0", "0.1,beta2=0", "0", "0"), Ok(())),
        (scales("0.1", "0", "", "0", "0"), Ok(())),
        (scales("0", "0", "", "0", "1"), Ok(())),
        (scales("-1", "1", "", "0", "0"), negative("CPU")),
        (scales("1", "-1", "", "0", "0"), negative("memory")),
        (scales("1", "1", "", "-1", "0"), negative("endpoint")),
        (scales("1", "1", "", "1", "-0.5"), negative("IP")),
        (scales("1", "1", "1,beta3=-1", "0", "0"), negative("beta3")),
    ] {
        assert_eq!(Pricing::Scale(Box::new(scales.clone())).validate(), result, "{scales:?}");
    }
    assert_eq!(Pricing::RandomRange.validate(), Ok(()));
    assert_eq!(Pricing::Script.validate(), Ok(()));
}

#[test]
fn storage_scales_are_read_by_class() {
    let read = Scales::parse_storage("0.1, beta2=0.2,beta3 = 3").unwrap();
    let classes: Vec<_> = read.keys().map(String::as_str).collect();
    assert_eq!(classes, ["beta2", "beta3", EPHEMERAL]);
    assert_eq!(read["beta3"], Decimal::parse("3").unwrap());
    assert_eq!(
        Scales::parse_storage("1,ephemeral=2"),
        Err(ScalesError::Twice { class: EPHEMERAL.to_owned() })
    );
    assert!(matches!(Scales::parse_storage("beta2="), Err(ScalesError::Storage { .. })));
}

#[test]
fn random_range_follows_memory_up_to_the_groups_price() {
    let price = |memory, count, most: &str, draw| {
        let mut unit = unit(1, count, 100, memory, vec![]);
        unit.price = most.parse().unwrap();
        random_range(&group(vec![unit]), draw).unwrap()
    };
    for (memory, count, most, draw, expected) in [
        // 2 GiB: at least 100; 1000 is the most. (1000 − 100) × 10^4 steps of a millionth.
        (GIB, 2, "500uact", 0, "100uact"),
        (GIB, 2, "500uact", u64::MAX, "108.999999uact"),
        (GIB, 2, "500uact", 1 << 63, "104.5uact"),
        // Little memory: the lowest price is 1, the highest what memory allows.
        (MIB, 1, "5000uact", 0, "1uact"),
        (MIB, 1, "5000uact", u64::MAX, "11.229999uact"),
        (1023, 1, "5000uact", 7, "1uact"),
        // Low equals high.
        (GIB, 1, "50uact", 1 << 63, "50uact"),
        // The group pays less than the lowest price: it is asked all the same, and too much.
        (GIB, 1, "20uact", u64::MAX, "50uact"),
        // One step only.
        (GIB, 1, "50.00009uact", u64::MAX, "50uact"),
    ] {
        assert_eq!(price(memory, count, most, draw), coin(expected), "{memory} × {count}, {most}");
    }
}

const REQUEST: &str = r#"{"resources":[{"memory":1073741824,"cpu":1500,"gpu":{"units":1,"attributes":{"vendor":{"nvidia":{"model":"a100","ram":"80Gi","interface":"sxm"}}}},"storage":[{"class":"ephemeral","size":536870912},{"class":"ram","size":1048576},{"class":"beta3","size":10737418240}],"count":2,"endpoint_quantity":3,"ip_lease_quantity":1},{"memory":16777216,"cpu":100,"gpu":{"units":0,"attributes":{}},"storage":[{"class":"ephemeral","size":134217728}],"count":1,"endpoint_quantity":0,"ip_lease_quantity":0}],"price":{"denom":"uact","amount":"3000.000000000000000000"},"price_precision":6}"#;

fn script_group() -> GroupSpec {
    let mut a = unit(
        1,
        2,
        1500,
        GIB,
        vec![
            volume(512 * MIB, &[]),
            volume(MIB, &[("class", "ram"), ("persistent", "false")]),
            volume(10 * GIB, &[("class", "beta3"), ("persistent", "true")]),
        ],
    );
    a.resources.endpoints = ends(&[
        (EndpointKind::SharedHttp, 0),
        (EndpointKind::LeasedIp, 1),
        (EndpointKind::LeasedIp, 1),
    ]);
    group(vec![a, unit(2, 1, 100, 16 * MIB, vec![volume(128 * MIB, &[])])])
}

fn offer(group: &GroupSpec, key: Option<&str>) -> Vec<ResourceOffer> {
    let mut offer: Vec<_> = (group.resources.iter())
        .map(|unit| ResourceOffer {
            resources: unit.resources.clone(),
            count: unit.count,
            prices: None,
        })
        .collect();
    if let Some(key) = key {
        offer[0].resources.gpu.units = 1;
        offer[0].resources.gpu.attributes = vec![Attribute::new(key, "true")];
    }
    offer
}

#[test]
fn a_script_is_asked_in_the_known_words() {
    let owner = Address::from_bytes(&[7; 20]).unwrap();
    let group = script_group();
    let pinned = offer(&group, Some("vendor/nvidia/model/a100/ram/80Gi/interface/sxm"));
    let Ok(Quote::Ask(request)) = Pricing::Script.quote(&group, &owner, &pinned, 0) else {
        panic!("no request")
    };
    assert_eq!(request.stdin, format!("{REQUEST}\n"));
    assert_eq!(
        request.environment,
        [("AKASH_OWNER", owner.to_string()), ("AKASH_DENOM", "uact".to_owned())]
    );
    // What was not asked for is left out.
    let pinned = offer(&group, Some("vendor/amd/model/mi300x"));
    let request = ScriptRequest::new(&owner, &pinned, &coin("1uakt"));
    let start = r#"{"resources":[{"memory":1073741824,"cpu":1500,"gpu":{"units":1,"attributes":{"vendor":{"amd":{"model":"mi300x"}}}},"#;
    assert!(request.stdin.starts_with(start), "{}", request.stdin);
    assert!(request.stdin.ends_with(
        r#""price":{"denom":"uakt","amount":"1.000000000000000000"},"price_precision":6}
"#
    ));
}

#[test]
fn texts_of_tenants_stay_texts() {
    let owner = Address::from_bytes(&[7; 20]).unwrap();
    let evil = volume(1, &[("class", "a\"<&>\\\n\u{1}\u{2028}é")]);
    let group = group(vec![unit(1, 1, 1, 1, vec![evil])]);
    let request = ScriptRequest::new(&owner, &offer(&group, None), &coin("1uakt"));
    let escaped = r#""class":"a\"\u003c\u0026\u003e\\\n\u0001\u2028é""#;
    assert!(request.stdin.contains(escaped), "{}", request.stdin);
    assert_eq!(request.stdin.matches('\n').count(), 1);
}

#[test]
fn a_scripts_answer_is_a_price_or_none() {
    let group = script_group();
    let read = |text: &str| read_script_output(&group, text.as_bytes());
    for text in ["12.5", " 12.5\n", "\t12.500000000000000000\r\n", "+12.5"] {
        assert_eq!(read(text), Ok(coin("12.5uact")), "{text:?}");
    }
    for text in [
        "",
        "\n",
        "free",
        "12,5",
        "1e3",
        "12.5 uact",
        "debug\n12.5",
        "0.1234567890123456789",
        "NaN",
    ] {
        assert!(matches!(read(text), Err(PriceError::Output { .. })), "{text:?}");
    }
    assert_eq!(read("0.000"), Err(PriceError::Zero));
    assert!(matches!(read("-1"), Err(PriceError::Negative { .. })));
    assert!(matches!(read_script_output(&group, b"\xff1"), Err(PriceError::Output { .. })));
}

proptest! {
    #[test]
    fn a_random_price_lies_in_its_range(memory in 1..64 * GIB, count in 1_u32..5, most in 1_u64..100_000, draw: u64) {
        let mut unit = unit(1, count, 100, memory, vec![]);
        unit.price = coin(&format!("{most}uact"));
        let group = group(vec![unit]);
        let total = u128::from(memory) * u128::from(count);
        let low = Dec::from_int(u64::try_from(total * 50 / (1 << 30)).unwrap().max(1));
        let price = random_range(&group, draw).unwrap().amount();
        prop_assert!(price >= low);
        prop_assert!(price <= group.total_price().unwrap().amount().max(low));
    }

    #[test]
    fn no_amount_makes_pricing_panic(cpu: u64, memory: u64, bytes: u64, count: u32, draw: u64, scale in "[0-9]{1,36}") {
        let group = group(vec![unit(1, count, cpu, memory, vec![volume(bytes, &[])])]);
        let _ = scales(&scale, &scale, &scale, &scale, &scale).price(&group);
        let _ = random_range(&group, draw);
    }

    #[test]
    fn no_output_makes_reading_panic(output: Vec<u8>) {
        let _ = read_script_output(&script_group(), &output);
    }
}
