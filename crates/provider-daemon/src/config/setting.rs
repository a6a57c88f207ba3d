//! One thing that the operator can set: its name, its default and what it is for.

/// A setting. Its name is that of the flag; the variables of the environment and the keys of
/// provider.yaml follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Name of the flag, without dashes before it.
    pub name: &'static str,
    /// What a value of it is called in help.
    pub value: &'static str,
    /// What holds if nobody says anything; empty where that is nothing, or follows from others.
    pub default: &'static str,
    pub help: &'static str,
    pub form: Form,
    pub effect: Effect,
    pub change: Change,
    /// Whether its value must not be shown.
    pub secret: bool,
    /// Whether provider.yaml can have it.
    pub in_file: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Value,
    /// By being there, or with true or false.
    Switch,
    /// With several values, one by one or with commas between.
    List,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Used,
    /// It is accepted because others knew it, and this is why it does nothing.
    Unused(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Reload,
    Restart,
}

impl Setting {
    pub(super) const fn new(
        name: &'static str,
        value: &'static str,
        default: &'static str,
        help: &'static str,
    ) -> Self {
        Self {
            name,
            value,
            default,
            help,
            form: Form::Value,
            effect: Effect::Used,
            change: Change::Restart,
            secret: false,
            in_file: true,
        }
    }

    pub(super) const fn switch(
        name: &'static str,
        default: &'static str,
        help: &'static str,
    ) -> Self {
        let mut setting = Self::new(name, "true|false", default, help);
        setting.form = Form::Switch;
        setting
    }

    pub(super) const fn list(
        name: &'static str,
        value: &'static str,
        default: &'static str,
        help: &'static str,
    ) -> Self {
        let mut setting = Self::new(name, value, default, help);
        setting.form = Form::List;
        setting
    }

    /// A change is taken over while running.
    pub(super) const fn live(mut self) -> Self {
        self.change = Change::Reload;
        self
    }

    /// It does nothing, and why.
    pub(super) const fn unused(mut self, because: &'static str) -> Self {
        self.effect = Effect::Unused(because);
        self
    }

    pub(super) const fn secret(mut self) -> Self {
        self.secret = true;
        self
    }

    /// It must be known before provider.yaml is read.
    pub(super) const fn not_in_file(mut self) -> Self {
        self.in_file = false;
        self
    }
}
