//! What product code does, as far as claims about it need to know: which variants and structs it
//! constructs, which fields it reads, which constants and texts it uses.
//!
//! Types are told apart by name only, and the owner of a field that is read as far as names tell it. Tests, test kits and what only compares or matches a value do
//! not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use proc_macro2::{TokenStream, TokenTree};
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ExprLit, FieldValue, Lit, Member, Pat, Token};

use super::types::{Declared, Locals, Types};

/// A type and its variant.
pub(super) type Variant = (String, String);

/// A match arm that gives a text: the ways to reach it, each of which needs all its variants.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Arm {
    pub(super) alternatives: Vec<Vec<Variant>>,
    pub(super) text: String,
}

/// What product code does.
#[derive(Default)]
pub(super) struct Source {
    pub(super) constructed: BTreeSet<Variant>,
    /// Struct literals, with the files that have them.
    pub(super) structs: BTreeMap<String, BTreeSet<PathBuf>>,
    /// Fields that are read, by type and name, with the files that do.
    pub(super) reads: BTreeMap<(String, String), BTreeSet<PathBuf>>,
    declared: Declared,
    /// Constants that are used, with the files that do.
    pub(super) constants: BTreeMap<String, BTreeSet<PathBuf>>,
    /// Texts, with the files that have them.
    pub(super) texts: BTreeMap<String, BTreeSet<PathBuf>>,
    /// Arms by file and function.
    pub(super) arms: BTreeMap<(PathBuf, String), Vec<Arm>>,
    /// Fields of public types, by file.
    pub(super) fields: BTreeMap<PathBuf, Vec<(String, String)>>,
    /// `NAME … = "text"` in macros, by file.
    pub(super) pairs: BTreeMap<PathBuf, Vec<(String, String)>>,
    /// Facts of the bus, with their topics.
    pub(super) topics: Vec<(String, String)>,
    /// Kinds of events of the bus.
    pub(super) events: Vec<String>,
    /// Names of settings, with whether they are said to have an effect.
    pub(super) settings: BTreeMap<String, bool>,
}

/// Reads every product crate below `root`.
pub(super) fn read(root: &Path) -> Result<Source> {
    let mut source = Source::default();
    let mut files = Vec::new();
    for entry in fs::read_dir(root.join("crates")).context("cannot list crates/")? {
        read_folder(root, &entry?.path().join("src"), &mut files)?;
    }
    source.add(&files);
    Ok(source)
}

fn read_folder(root: &Path, folder: &Path, files: &mut Vec<(PathBuf, syn::File)>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {folder:?}"))?;
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name == "tests" || name == "tests.rs" {
            continue;
        }
        if path.is_dir() {
            read_folder(root, &path, files)?;
        } else if name.ends_with(".rs") {
            let text =
                fs::read_to_string(&path).with_context(|| format!("cannot read {path:?}"))?;
            let relative = path.strip_prefix(root).unwrap_or(&path).to_path_buf();
            files.push((relative, parsed(&path, &text)?));
        }
    }
    Ok(())
}

impl Source {
    /// Takes files. What they declare has to be known before what they do.
    pub(super) fn add(&mut self, files: &[(PathBuf, syn::File)]) {
        files.iter().for_each(|(_, file)| self.declared.add(file));
        for (path, file) in files {
            let mut reader = FileReader {
                source: self,
                path,
                self_type: None,
                functions: Vec::new(),
                arms: Vec::new(),
                locals: Locals::default(),
            };
            reader.visit_file(file);
        }
    }
}

pub(super) fn parsed(path: &Path, text: &str) -> Result<syn::File> {
    syn::parse_file(text).with_context(|| format!("cannot parse {path:?}"))
}

/// `Fact: Topic`, in the macro that gives facts their topics.
fn fact_and_topic(pair: &FieldValue) -> Option<(String, String)> {
    match (&pair.member, &pair.expr) {
        (Member::Named(fact), Expr::Path(topic)) => {
            Some((fact.to_string(), topic.path.get_ident()?.to_string()))
        }
        _ => None,
    }
}

/// The arms of `select!`: a pattern each, what is waited for, and what is done then.
fn select_arms(input: ParseStream<'_>) -> syn::Result<Vec<(Pat, Vec<Expr>)>> {
    let mut arms = Vec::new();
    if input.peek(syn::Ident) && input.peek2(Token![;]) {
        input.parse::<syn::Ident>()?;
        input.parse::<Token![;]>()?;
    }
    while !input.is_empty() {
        let pattern = match input.parse::<Option<Token![else]>>()? {
            Some(_) => syn::parse_quote!(_),
            None => Pat::parse_multi_with_leading_vert(input)?,
        };
        let mut parts = Vec::new();
        if input.parse::<Option<Token![=]>>()?.is_some() {
            parts.push(input.parse()?);
        }
        if input.parse::<Option<Token![,]>>()?.is_some() {
            input.parse::<Token![if]>()?;
            parts.push(input.parse()?);
        }
        input.parse::<Token![=>]>()?;
        parts.push(Expr::parse_with_earlier_boundary_rule(input)?);
        input.parse::<Option<Token![,]>>()?;
        arms.push((pattern, parts));
    }
    Ok(arms)
}

/// Names in `Name: "text";`, in the macro that makes kinds of events.
fn kinds(tokens: TokenStream) -> Vec<String> {
    let words = tokens.into_iter().filter_map(|token| match token {
        TokenTree::Ident(ident) => Some(ident.to_string()),
        _ => None,
    });
    words.collect()
}

struct FileReader<'a> {
    source: &'a mut Source,
    path: &'a Path,
    /// What `Self` stands for.
    self_type: Option<String>,
    functions: Vec<String>,
    /// Patterns of the arms around this place, each with its alternatives.
    arms: Vec<Vec<Vec<Variant>>>,
    locals: Locals,
}

impl FileReader<'_> {
    /// The last two segments of a path that ends in a variant, or could.
    fn variant(&self, path: &syn::Path) -> Option<Variant> {
        let mut segments = path.segments.iter().rev().map(|segment| segment.ident.to_string());
        let (last, type_name) = (segments.next()?, segments.next()?);
        let type_name = match type_name.as_str() {
            "Self" => self.self_type.clone()?,
            _ => type_name,
        };
        let is_type = |name: &str| name.starts_with(|c: char| c.is_ascii_uppercase());
        (is_type(&type_name) && is_type(&last)).then_some((type_name, last))
    }

    fn use_path(&mut self, path: &syn::Path) {
        if let Some(variant) = self.variant(path) {
            self.source.constructed.insert(variant);
        }
        if let Some(last) = path.segments.last() {
            self.use_constant(&last.ident.to_string());
        }
    }

    fn use_constant(&mut self, name: &str) {
        let is_constant = name.len() > 1
            && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        if is_constant {
            let files = self.source.constants.entry(name.to_owned()).or_default();
            files.insert(self.path.to_path_buf());
        }
    }

    /// Notes that a field of one of these types is read.
    fn read_field(&mut self, of: &Types, member: &Member) {
        let Member::Named(name) = member else { return };
        let name = name.to_string();
        for owner in self.source.declared.owners(of, &name) {
            let files = self.source.reads.entry((owner, name.clone())).or_default();
            files.insert(self.path.to_path_buf());
        }
    }

    fn types(&self, expr: &Expr) -> Types {
        self.locals.types(expr, &self.source.declared)
    }

    /// Binds the names of a pattern to what it matches.
    fn bind(&mut self, pattern: &Pat, of: &Types) {
        self.locals.bind(pattern, of, &self.source.declared);
    }

    /// Reads a function, whose names are its own.
    fn function(&mut self, signature: &syn::Signature, visit: impl FnOnce(&mut Self)) {
        let mut locals = Locals::default();
        locals.bind_self(self.self_type.as_ref());
        let outer = std::mem::replace(&mut self.locals, locals);
        for input in &signature.inputs {
            if let syn::FnArg::Typed(typed) = input {
                self.bind(&Pat::Type(typed.clone()), &Types::new());
            }
        }
        self.functions.push(signature.ident.to_string());
        visit(self);
        self.functions.pop();
        self.locals = outer;
    }

    /// Every way to match a pattern, as the variants that it names.
    fn alternatives(&self, pattern: &Pat) -> Vec<Vec<Variant>> {
        let named = |path: &syn::Path| self.variant(path).into_iter().collect::<Vec<_>>();
        let all = |parts: Vec<Vec<Vec<Variant>>>| {
            parts.into_iter().fold(vec![Vec::new()], |ways, part| {
                ways.iter()
                    .flat_map(|way| part.iter().map(|more| [&way[..], more].concat()))
                    .collect()
            })
        };
        match pattern {
            Pat::Path(path) => vec![named(&path.path)],
            Pat::Or(or) => or.cases.iter().flat_map(|case| self.alternatives(case)).collect(),
            Pat::TupleStruct(tuple) => {
                let mut parts = vec![vec![named(&tuple.path)]];
                parts.extend(tuple.elems.iter().map(|element| self.alternatives(element)));
                all(parts)
            }
            Pat::Struct(structure) => {
                let mut parts = vec![vec![named(&structure.path)]];
                parts.extend(structure.fields.iter().map(|field| self.alternatives(&field.pat)));
                all(parts)
            }
            Pat::Tuple(tuple) => {
                all(tuple.elems.iter().map(|element| self.alternatives(element)).collect())
            }
            Pat::Reference(reference) => self.alternatives(&reference.pat),
            Pat::Paren(paren) => self.alternatives(&paren.pat),
            Pat::Guard(guard) => self.alternatives(&guard.pat),
            _ => vec![Vec::new()],
        }
    }

    /// An arm of `select!`: its pattern matches what the first part gives.
    fn select_arm(&mut self, pattern: &Pat, parts: &[Expr]) {
        let of = parts.first().map(|waited| self.types(waited)).unwrap_or_default();
        self.visit_pat(pattern);
        self.bind(pattern, &of);
        parts.iter().for_each(|part| self.visit_expr(part));
    }

    /// Code in a macro: as expressions where it is a list of them, else word by word.
    fn read_macro(&mut self, mac: &syn::Macro) {
        let name = mac.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        if name == "matches" {
            return;
        }
        if name == "select"
            && let Ok(arms) = mac.parse_body_with(select_arms)
        {
            return arms.iter().for_each(|(pattern, parts)| self.select_arm(pattern, parts));
        }
        let list = mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
        match list {
            Ok(list) => list.iter().for_each(|expr| self.visit_expr(expr)),
            Err(_) => self.read_tokens(mac.tokens.clone()),
        }
    }

    fn read_tokens(&mut self, tokens: TokenStream) {
        let mut before: Vec<String> = Vec::new();
        for token in tokens {
            match token {
                TokenTree::Group(group) => {
                    self.read_tokens(group.stream());
                    before.push(String::new());
                }
                TokenTree::Ident(ident) => {
                    let name = ident.to_string();
                    self.use_constant(&name);
                    match before.as_slice() {
                        [.., type_name, first, second] if first == ":" && second == ":" => {
                            let type_name = match type_name.as_str() {
                                "Self" => self.self_type.clone().unwrap_or_default(),
                                _ => type_name.clone(),
                            };
                            self.source.constructed.insert((type_name, name.clone()));
                        }
                        [.., of, dot] if dot == "." => {
                            let of = syn::parse_str(of).map(|of| self.types(&of));
                            self.read_field(&of.unwrap_or_default(), &Member::Named(ident));
                        }
                        _ => {}
                    }
                    before.push(name);
                }
                TokenTree::Literal(literal) => {
                    if let Ok(Lit::Str(text)) = syn::parse_str::<Lit>(&literal.to_string()) {
                        self.use_text(&text.value());
                        self.pair(&before, text.value());
                    }
                    before.push(literal.to_string());
                }
                TokenTree::Punct(punct) => before.push(punct.to_string()),
            }
        }
    }

    /// `NAME = "text"` and `NAME: something = "text"`.
    fn pair(&mut self, before: &[String], text: String) {
        let name = match before {
            [.., name, colon, _, equals] if colon == ":" && equals == "=" => name,
            [.., name, equals] if equals == "=" && name != "doc" => name,
            _ => return,
        };
        self.source.pairs.entry(self.path.to_path_buf()).or_default().push((name.clone(), text));
    }

    fn use_text(&mut self, text: &str) {
        let files = self.source.texts.entry(text.to_owned()).or_default();
        files.insert(self.path.to_path_buf());
    }

    fn add_fields<'f>(&mut self, of: &syn::Ident, fields: impl Iterator<Item = &'f syn::Field>) {
        let named =
            fields.filter_map(|field| Some((of.to_string(), field.ident.as_ref()?.to_string())));
        self.source.fields.entry(self.path.to_path_buf()).or_default().extend(named);
    }

    fn within<T>(&mut self, self_type: Option<String>, visit: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.self_type, self_type);
        let result = visit(self);
        self.self_type = outer;
        result
    }
}

impl<'ast> Visit<'ast> for FileReader<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_test(attributes_of(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let self_type = type_name(&item.self_ty);
        self.within(self_type, |reader| visit::visit_item_impl(reader, item));
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        // `#[from]` makes a conversion, which `?` uses without naming the variant.
        for variant in &item.variants {
            let is_from = |attribute: &Attribute| attribute.path().is_ident("from");
            if variant.fields.iter().any(|field| field.attrs.iter().any(is_from)) {
                let name = (item.ident.to_string(), variant.ident.to_string());
                self.source.constructed.insert(name);
            }
            let is_error = variant.attrs.iter().any(|attribute| attribute.path().is_ident("error"));
            if matches!(item.vis, syn::Visibility::Public(_)) && !is_error {
                self.add_fields(&item.ident, variant.fields.iter());
            }
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        let is_public = |vis: &syn::Visibility| matches!(vis, syn::Visibility::Public(_));
        if is_public(&item.vis) {
            let fields = item.fields.iter().filter(|field| is_public(&field.vis));
            self.add_fields(&item.ident, fields);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        match item {
            syn::ImplItem::Fn(function) if is_test(&function.attrs) => {}
            // A list of all variants constructs none of them.
            syn::ImplItem::Const(constant) if constant.ident == "ALL" => {}
            _ => visit::visit_impl_item(self, item),
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.function(&function.sig, |reader| visit::visit_impl_item_fn(reader, function));
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.function(&function.sig, |reader| visit::visit_item_fn(reader, function));
    }

    fn visit_stmt(&mut self, statement: &'ast syn::Stmt) {
        let is_for_tests = matches!(statement, syn::Stmt::Local(local) if is_test(&local.attrs));
        if !is_for_tests {
            visit::visit_stmt(self, statement);
        }
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        visit::visit_local(self, local);
        let of = local.init.as_ref().map(|init| self.types(&init.expr)).unwrap_or_default();
        self.bind(&local.pat, &of);
    }

    fn visit_expr_let(&mut self, condition: &'ast syn::ExprLet) {
        self.bind(&condition.pat, &self.types(&condition.expr));
        visit::visit_expr_let(self, condition);
    }

    fn visit_expr_for_loop(&mut self, each: &'ast syn::ExprForLoop) {
        self.bind(&each.pat, &self.types(&each.expr));
        visit::visit_expr_for_loop(self, each);
    }

    fn visit_expr_match(&mut self, cases: &'ast syn::ExprMatch) {
        let of = self.types(&cases.expr);
        cases.arms.iter().for_each(|arm| self.bind(&arm.pat, &of));
        visit::visit_expr_match(self, cases);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        self.visit_pat(&arm.pat);
        self.arms.push(self.alternatives(&arm.pat));
        if let Some(Lit::Str(text)) = literal(&arm.body)
            && let Some(function) = self.functions.last()
        {
            let alternatives = self.arms.iter().fold(vec![Vec::new()], |ways, arm| {
                ways.iter()
                    .flat_map(|way| arm.iter().map(|more| [&way[..], more].concat()))
                    .collect()
            });
            let key = (self.path.to_path_buf(), function.clone());
            let arms = self.source.arms.entry(key).or_default();
            arms.push(Arm { alternatives, text: text.value() });
        }
        visit::visit_expr(self, &arm.body);
        self.arms.pop();
    }

    fn visit_pat(&mut self, pattern: &'ast Pat) {
        // A pattern constructs nothing, but reads the fields that it binds.
        match pattern {
            Pat::Struct(structure) => {
                let own = |name: String| match &self.self_type {
                    Some(own) if name == "Self" => own.clone(),
                    _ => name,
                };
                let path = structure.path.segments.iter();
                let of = path.map(|segment| own(segment.ident.to_string())).collect();
                for field in &structure.fields {
                    if !matches!(*field.pat, Pat::Wild(_)) {
                        self.read_field(&of, &field.member);
                    }
                    self.visit_pat(&field.pat);
                }
            }
            Pat::Path(_) => {}
            Pat::TupleStruct(tuple) => tuple.elems.iter().for_each(|part| self.visit_pat(part)),
            Pat::Guard(guard) => {
                self.visit_pat(&guard.pat);
                self.visit_expr(&guard.guard);
            }
            _ => visit::visit_pat(self, pattern),
        }
    }

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        let compares = matches!(binary.op, syn::BinOp::Eq(_) | syn::BinOp::Ne(_));
        for side in [&binary.left, &binary.right] {
            if !(compares && matches!(**side, Expr::Path(_))) {
                self.visit_expr(side);
            }
        }
    }

    fn visit_expr_assign(&mut self, assign: &'ast syn::ExprAssign) {
        // A field that is only written is not read.
        if let Expr::Field(field) = &*assign.left {
            self.visit_expr(&field.base);
        } else {
            self.visit_expr(&assign.left);
        }
        self.visit_expr(&assign.right);
    }

    fn visit_expr_field(&mut self, field: &'ast syn::ExprField) {
        self.read_field(&self.types(&field.base), &field.member);
        visit::visit_expr_field(self, field);
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        self.use_path(&path.path);
    }

    fn visit_expr_struct(&mut self, structure: &'ast syn::ExprStruct) {
        self.use_path(&structure.path);
        let last = structure.path.segments.last().map(|last| last.ident.to_string());
        let name = match last.as_deref() {
            Some("Self") => self.self_type.clone(),
            _ => last,
        };
        let files = self.source.structs.entry(name.unwrap_or_default()).or_default();
        files.insert(self.path.to_path_buf());
        visit::visit_expr_struct(self, structure);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let (Expr::Path(path), Some(first)) = (&*call.func, call.args.first())
            && let Some(syn::PathSegment { ident, .. }) = path.path.segments.first()
            && ident == "Setting"
            && let Some(Lit::Str(name)) = literal(first)
        {
            self.source.settings.entry(name.value()).or_insert(true);
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        // A closure is given what it is called on, or parts of it.
        let of = self.types(&call.receiver);
        for argument in &call.args {
            if let Expr::Closure(closure) = argument {
                closure.inputs.iter().for_each(|input| self.bind(input, &of));
            }
        }
        visit::visit_expr_method_call(self, call);
        if call.method == "unused"
            && let Some(name) = setting_name(&call.receiver)
        {
            self.source.settings.insert(name, false);
        }
    }

    fn visit_lit(&mut self, literal: &'ast Lit) {
        if let Lit::Str(text) = literal {
            self.use_text(&text.value());
        }
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        // A definition does nothing by itself.
        if item.ident.is_some() {
            return;
        }
        let mac = &item.mac;
        if mac.path.is_ident("facts") {
            let facts = mac.parse_body_with(Punctuated::<FieldValue, Token![,]>::parse_terminated);
            self.source.topics.extend(facts.iter().flatten().filter_map(fact_and_topic));
        }
        if mac.path.is_ident("kinds") {
            self.source.events.extend(kinds(mac.tokens.clone()));
        }
        self.read_tokens(mac.tokens.clone());
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.read_macro(mac);
    }

    fn visit_attribute(&mut self, _: &'ast Attribute) {}
}

/// The name in `Setting::new("name", …)`, whatever is called on it.
fn setting_name(expr: &Expr) -> Option<String> {
    match expr {
        Expr::MethodCall(call) => setting_name(&call.receiver),
        Expr::Call(call) => match literal(call.args.first()?)? {
            Lit::Str(name) => Some(name.value()),
            _ => None,
        },
        _ => None,
    }
}

fn literal(expr: &Expr) -> Option<&Lit> {
    match expr {
        Expr::Lit(ExprLit { lit, .. }) => Some(lit),
        Expr::Block(block) => match block.block.stmts.as_slice() {
            [syn::Stmt::Expr(expr, None)] => literal(expr),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn type_name(of: &syn::Type) -> Option<String> {
    match of {
        syn::Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        _ => None,
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let is_cfg = attribute.path().is_ident("cfg");
        attribute.path().is_ident("test")
            || is_cfg
                && attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string() == "test")
    })
}

fn attributes_of(item: &syn::Item) -> &[Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
