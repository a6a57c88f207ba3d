//! Which types an expression may have, as far as names in the source say it.
//!
//! A type is the name that it was declared with. What stands for several, such as `Option<Reload>`,
//! is all of them. Nothing is said of what cannot be followed by name.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{Expr, Member, Pat, ReturnType};

/// Names of types.
pub(super) type Types = BTreeSet<String>;

/// What is declared: types of fields, and what functions return.
#[derive(Default)]
pub(super) struct Declared {
    /// By type and field.
    fields: BTreeMap<(String, String), Types>,
    /// By type, empty outside of one, and function.
    returned: BTreeMap<(String, String), Types>,
    /// How many types have a field of a name.
    owners: BTreeMap<String, Types>,
}

impl Declared {
    pub(super) fn add(&mut self, file: &syn::File) {
        Declarations { declared: self, self_type: None }.visit_file(file);
    }

    /// Which of these types have the field; if it cannot be told, the only type that has one.
    pub(super) fn owners(&self, of: &Types, field: &str) -> Types {
        let all = self.owners.get(field).cloned().unwrap_or_default();
        let known: Types = all.intersection(of).cloned().collect();
        match known.is_empty() {
            true if all.len() > 1 => Types::new(),
            true => all,
            false => known,
        }
    }

    fn field(&self, of: &Types, field: &str) -> Types {
        let owners = self.owners(of, field);
        let types = owners.iter().filter_map(|of| self.fields.get(&(of.clone(), field.to_owned())));
        types.flatten().cloned().collect()
    }

    /// What a method returns; what it is called on if that is not known, as for `clone` and `map`.
    fn method(&self, of: Types, name: &str) -> Types {
        let found = of.iter().filter_map(|of| self.returned.get(&(of.clone(), name.to_owned())));
        let found: Types = found.flatten().cloned().collect();
        if found.is_empty() { of } else { found }
    }

    fn call(&self, path: &[String], arguments: Types) -> Types {
        let (name, of) = match path {
            [.., of, name] => (name, of.as_str()),
            [name] => (name, ""),
            [] => return arguments,
        };
        if let Some(found) = self.returned.get(&(of.to_owned(), name.clone())) {
            return found.clone();
        }
        // Of a module, or what makes a value of others, such as `Some` and `Arc::new`.
        match self.returned.get(&(String::new(), name.clone())) {
            Some(found) => found.clone(),
            None => arguments.into_iter().chain([of.to_owned()]).collect(),
        }
    }
}

/// What is known of the names in a function.
#[derive(Default)]
pub(super) struct Locals(BTreeMap<String, Types>);

impl Locals {
    pub(super) fn bind_self(&mut self, self_type: Option<&String>) {
        self.0.insert("self".to_owned(), self_type.cloned().into_iter().collect());
    }

    /// Binds the names of a pattern to parts of what it matches.
    pub(super) fn bind(&mut self, pattern: &Pat, of: &Types, declared: &Declared) {
        match pattern {
            Pat::Ident(ident) => {
                self.0.entry(ident.ident.to_string()).or_default().extend(of.iter().cloned());
                if let Some((_, inner)) = &ident.subpat {
                    self.bind(inner, of, declared);
                }
            }
            Pat::Struct(structure) => {
                let of = self.resolved(&structure.path).into_iter().collect();
                for field in &structure.fields {
                    if let Member::Named(name) = &field.member {
                        let types = declared.field(&of, &name.to_string());
                        self.bind(&field.pat, &types, declared);
                    }
                }
            }
            Pat::TupleStruct(tuple) => {
                tuple.elems.iter().for_each(|part| self.bind(part, of, declared));
            }
            Pat::Tuple(tuple) => tuple.elems.iter().for_each(|part| self.bind(part, of, declared)),
            Pat::Slice(slice) => slice.elems.iter().for_each(|part| self.bind(part, of, declared)),
            Pat::Or(or) => or.cases.iter().for_each(|case| self.bind(case, of, declared)),
            Pat::Reference(reference) => self.bind(&reference.pat, of, declared),
            Pat::Paren(paren) => self.bind(&paren.pat, of, declared),
            Pat::Guard(guard) => self.bind(&guard.pat, of, declared),
            Pat::Type(typed) => {
                let self_type = self.0.get("self").and_then(|of| of.first()).cloned();
                self.bind(&typed.pat, &named(&typed.ty, self_type.as_ref()), declared);
            }
            _ => {}
        }
    }

    pub(super) fn types(&self, expr: &Expr, declared: &Declared) -> Types {
        let of = |expr: &Expr| self.types(expr, declared);
        let all = |parts: &mut dyn Iterator<Item = &Expr>| parts.flat_map(of).collect::<Types>();
        match expr {
            Expr::Path(path) => match path.path.get_ident() {
                Some(name) => self.0.get(&name.to_string()).cloned().unwrap_or_default(),
                None => names(&path.path).into_iter().collect(),
            },
            Expr::Field(field) => match &field.member {
                Member::Named(name) => declared.field(&of(&field.base), &name.to_string()),
                Member::Unnamed(_) => of(&field.base),
            },
            Expr::MethodCall(call) => declared.method(of(&call.receiver), &call.method.to_string()),
            Expr::Call(call) => {
                let arguments = all(&mut call.args.iter());
                match &*call.func {
                    Expr::Path(path) => declared.call(&self.resolved(&path.path), arguments),
                    _ => arguments,
                }
            }
            Expr::Struct(structure) => self.resolved(&structure.path).into_iter().collect(),
            Expr::Reference(reference) => of(&reference.expr),
            Expr::Paren(paren) => of(&paren.expr),
            Expr::Group(group) => of(&group.expr),
            Expr::Try(question) => of(&question.expr),
            Expr::Await(waiting) => of(&waiting.base),
            Expr::Unary(unary) => of(&unary.expr),
            Expr::Index(index) => of(&index.expr),
            Expr::Closure(closure) => of(&closure.body),
            Expr::Tuple(tuple) => all(&mut tuple.elems.iter()),
            Expr::Array(array) => all(&mut array.elems.iter()),
            Expr::Match(cases) => all(&mut cases.arms.iter().map(|arm| &*arm.body)),
            Expr::Block(block) => self.block(&block.block, declared),
            Expr::If(branch) => {
                let other = branch.else_branch.iter().flat_map(|(_, expr)| of(expr));
                self.block(&branch.then_branch, declared).into_iter().chain(other).collect()
            }
            _ => Types::new(),
        }
    }

    fn block(&self, block: &syn::Block, declared: &Declared) -> Types {
        match block.stmts.last() {
            Some(syn::Stmt::Expr(expr, None)) => self.types(expr, declared),
            _ => Types::new(),
        }
    }

    fn resolved(&self, path: &syn::Path) -> Vec<String> {
        let own = self.0.get("self").and_then(|of| of.first());
        let resolve = |name: String| match own {
            Some(own) if name == "Self" => own.clone(),
            _ => name,
        };
        path.segments.iter().map(|segment| resolve(segment.ident.to_string())).collect()
    }
}

fn names(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

/// Every type that is named in one.
fn named(of: &syn::Type, self_type: Option<&String>) -> Types {
    let mut found = Named { types: Types::new(), self_type };
    found.visit_type(of);
    found.types
}

struct Named<'a> {
    types: Types,
    self_type: Option<&'a String>,
}

impl<'ast> Visit<'ast> for Named<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        if let Some(last) = path.segments.last() {
            let name = last.ident.to_string();
            let own = self.self_type.filter(|_| name == "Self");
            self.types.insert(own.cloned().unwrap_or(name));
        }
        visit::visit_path(self, path);
    }
}

struct Declarations<'a> {
    declared: &'a mut Declared,
    self_type: Option<String>,
}

impl Declarations<'_> {
    fn fields<'f>(&mut self, of: &syn::Ident, fields: impl Iterator<Item = &'f syn::Field>) {
        let of = of.to_string();
        for field in fields {
            let Some(name) = field.ident.as_ref().map(ToString::to_string) else { continue };
            let types = named(&field.ty, Some(&of));
            self.declared.owners.entry(name.clone()).or_default().insert(of.clone());
            self.declared.fields.entry((of.clone(), name)).or_default().extend(types);
        }
    }

    fn function(&mut self, signature: &syn::Signature) {
        if let ReturnType::Type(_, returned) = &signature.output {
            let of = self.self_type.clone().unwrap_or_default();
            let types = named(returned, self.self_type.as_ref());
            let key = (of, signature.ident.to_string());
            self.declared.returned.entry(key).or_default().extend(types);
        }
    }
}

impl<'ast> Visit<'ast> for Declarations<'_> {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.fields(&item.ident, item.fields.iter());
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        let fields = item.variants.iter().flat_map(|variant| variant.fields.iter());
        self.fields(&item.ident, fields);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let outer = std::mem::replace(&mut self.self_type, super::source::type_name(&item.self_ty));
        visit::visit_item_impl(self, item);
        self.self_type = outer;
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        let outer = self.self_type.replace(item.ident.to_string());
        visit::visit_item_trait(self, item);
        self.self_type = outer;
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        self.function(signature);
    }
}
