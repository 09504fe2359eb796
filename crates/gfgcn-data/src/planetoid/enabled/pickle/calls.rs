//! Where Python would look up a name or call something: the one place a hostile pickle could do
//! harm, so kept apart and short.

use super::input::Step;
use super::machine::Machine;
use super::{Global, Id, Object, Value, text};
use std::borrow::Cow;

impl Machine<'_> {
    /// A name, if it is one of the few that data need.
    pub(super) fn global(&mut self, module: &str, name: &str) -> Step {
        let global = Global::named(module, name).ok_or_else(|| {
            let name = format!("{module}.{name}");
            format!(
                "the pickle asks for {}, which is not part of plain data, NumPy arrays or SciPy \
                 CSR matrices; nothing was run. If you trust the file, load it in Python and \
                 save plain arrays",
                text::clipped(&name)
            )
        })?;
        self.push(Value::Global(global))
    }

    /// A call is recorded; only what later opcodes have to change in place is made at once.
    pub(super) fn call(&mut self, maker: Id, arguments: Id) -> Step {
        let &Value::Global(maker) = self.value(maker) else {
            return Err("something that is not a name is called".into());
        };
        let arguments = self.tuple(arguments)?;
        match (maker, arguments) {
            (Global::DefaultDict, _) => self.push(Value::Dict(Vec::new())),
            (Global::Bytes, []) => self.push(Value::Bytes(Cow::Borrowed(&[]))),
            (Global::Reconstructor, &[class, _, _]) | (Global::NewObject, &[class]) => {
                self.instance(class)
            }
            (
                Global::Encode
                | Global::Reconstruct
                | Global::Scalar
                | Global::FromBuffer
                | Global::Dtype,
                arguments,
            ) => {
                // No genuine call has more; a shared long tuple must not be copied at each call.
                if arguments.len() > 8 {
                    return Err(format!("{maker} is called with {} arguments", arguments.len()));
                }
                let arguments = arguments.to_vec();
                self.push(Value::Object(Box::new(Object { maker, arguments, state: None })))
            }
            (other, arguments) => {
                Err(format!("{other} cannot be called with {} arguments", arguments.len()))
            }
        }
    }

    /// An object without constructor arguments, to be filled by its state.
    pub(super) fn instance(&mut self, class: Id) -> Step {
        match self.value(class) {
            &Value::Global(maker @ Global::Csr) => {
                let arguments = Vec::new();
                self.push(Value::Object(Box::new(Object { maker, arguments, state: None })))
            }
            _ => Err("an object is made that is not a SciPy CSR matrix".into()),
        }
    }

    pub(super) fn tuple(&self, id: Id) -> Step<&[Id]> {
        match self.value(id) {
            Value::Tuple(items) => Ok(items),
            _ => Err("the arguments of a call are not a tuple".into()),
        }
    }
}
