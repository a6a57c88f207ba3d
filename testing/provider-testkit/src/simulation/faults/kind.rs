//! What can go wrong: the columns of the coverage table.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    Crash,
    /// The process dies, and its store is lost.
    CrashWithoutStore,
    /// An answer or an event is lost.
    Lost,
    /// An answer or an event comes twice.
    Doubled,
    /// An answer comes minutes late.
    Late,
    /// Nodes are blocks behind.
    ChainLag,
    /// No blocks are made.
    ChainHalt,
    /// A transaction is accepted and never seen again, or its fate is not told.
    TxLost,
    /// Nodes take no transactions.
    MempoolFull,
    /// Commands to the cluster fail now and then.
    ApiErrors,
    /// The clock of the process jumps.
    ClockJump,
    /// The cluster does not answer for minutes or an hour.
    ClusterDown,
    /// The watch on the cluster breaks.
    WatchBroken,
    /// Many containers die at once.
    PodsKilled,
    /// A node of the cluster is lost.
    NodeLost,
    /// Somebody else signs with the provider's key.
    ForeignTx,
    /// Many orders come at once.
    OrderSpam,
    /// Objects of leases are deleted: of all or some, all of them, Manifests or workloads only.
    ContentLost,
    /// The provider sees another, empty cluster for a while.
    ClusterSwapped,
    /// The provider is started with another manifest namespace, until it is started again.
    WrongNamespace,
    /// A second provider with the same key bids.
    SecondProvider,
}

impl FaultKind {
    pub const ALL: [Self; 21] = [
        Self::Crash,
        Self::CrashWithoutStore,
        Self::Lost,
        Self::Doubled,
        Self::Late,
        Self::ChainLag,
        Self::ChainHalt,
        Self::TxLost,
        Self::MempoolFull,
        Self::ApiErrors,
        Self::ClockJump,
        Self::ClusterDown,
        Self::WatchBroken,
        Self::PodsKilled,
        Self::NodeLost,
        Self::ForeignTx,
        Self::OrderSpam,
        Self::ContentLost,
        Self::ClusterSwapped,
        Self::WrongNamespace,
        Self::SecondProvider,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Crash => "crash",
            Self::CrashWithoutStore => "no store",
            Self::Lost => "lost",
            Self::Doubled => "doubled",
            Self::Late => "late",
            Self::ChainLag => "lag",
            Self::ChainHalt => "halt",
            Self::TxLost => "tx lost",
            Self::MempoolFull => "mempool",
            Self::ApiErrors => "api",
            Self::ClockJump => "clock",
            Self::ClusterDown => "cluster",
            Self::WatchBroken => "watch",
            Self::PodsKilled => "pods",
            Self::NodeLost => "node",
            Self::ForeignTx => "foreign",
            Self::OrderSpam => "spam",
            Self::ContentLost => "content",
            Self::ClusterSwapped => "swap",
            Self::WrongNamespace => "wrong ns",
            Self::SecondProvider => "second",
        }
    }
}
