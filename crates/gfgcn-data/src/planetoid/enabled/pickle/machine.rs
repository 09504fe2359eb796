//! The stack machine: one step per opcode, in the order and with the names of Python's
//! `pickletools`.

use super::input::{Input, Step};
use super::{Id, Pickle, Value, text};
use crate::reading::Reading;
use gfgcn::{Error, Result};
use std::borrow::Cow;
use std::collections::HashMap;

const NEWEST_PROTOCOL: u8 = 5;

/// How often memory is asked for: between so many values.
const VALUES_AT_A_TIME: usize = 1 << 10;
/// A value, its places on the stack and in a list, and perhaps one in the memo.
const MEMORY_OF_A_VALUE: usize = size_of::<Value<'static>>() + 32;

/// Reads one pickle that fills the whole input.
pub(super) fn run<'a>(bytes: &'a [u8], reading: &Reading) -> Result<Pickle<'a>> {
    let mut machine = Machine {
        input: Input::new(bytes),
        values: Vec::new(),
        stack: Vec::new(),
        marks: Vec::new(),
        memo: HashMap::new(),
    };
    let mut asked = 0;
    loop {
        if machine.values.len() >= asked {
            reading.grow(VALUES_AT_A_TIME * MEMORY_OF_A_VALUE)?;
            reading.check()?;
            asked += VALUES_AT_A_TIME;
        }
        let at = machine.input.offset();
        let failed = |problem| Error::Format(format!("byte {at}: {problem}"));
        if let Some(root) = machine.step().map_err(failed)? {
            return match machine.input.left() {
                0 => Ok(Pickle { values: machine.values, root }),
                more => Err(failed(format!("{more} more bytes follow the end of the pickle"))),
            };
        }
    }
}

/// The state between two opcodes.
pub(super) struct Machine<'a> {
    input: Input<'a>,
    values: Vec<Value<'a>>,
    stack: Vec<Id>,
    /// Heights of the stack at the open marks.
    marks: Vec<usize>,
    memo: HashMap<u64, Id>,
}

impl<'a> Machine<'a> {
    /// Carries out one opcode; the root when it was the last one.
    fn step(&mut self) -> Step<Option<Id>> {
        let opcode = self.input.u8()?;
        match opcode {
            b'.' => return self.pop().map(Some),
            0x80 => self.protocol()?,
            // Frames only help readers that stream; their length is checked all the same.
            0x95 => {
                let length = self.input.u64()?;
                if length > self.input.left() as u64 {
                    return Err(format!(
                        "a frame of {length} bytes is announced, but only {} are left; \
                         the file is truncated or damaged",
                        self.input.left()
                    ));
                }
            }
            b'(' => self.marks.push(self.stack.len()),
            b'0' => _ = self.pop()?,
            b'1' => _ = self.above_mark()?,
            b'2' => {
                let top = self.top()?;
                self.stack.push(top);
            }

            b'N' => self.push(Value::None)?,
            0x88 => self.push(Value::Bool(true))?,
            0x89 => self.push(Value::Bool(false))?,
            b'I' => {
                let value = match self.input.line()? {
                    b"00" => Value::Bool(false),
                    b"01" => Value::Bool(true),
                    line => Value::Int(text::integer(line)?),
                };
                self.push(value)?;
            }
            b'J' => {
                let value = i32::from_le_bytes(self.input.array()?);
                self.push(Value::Int(value.into()))?;
            }
            b'K' => {
                let value = self.input.u8()?;
                self.push(Value::Int(value.into()))?;
            }
            b'M' => {
                let value = u16::from_le_bytes(self.input.array()?);
                self.push(Value::Int(value.into()))?;
            }
            b'L' => {
                let value = text::integer(self.input.line()?)?;
                self.push(Value::Int(value))?;
            }
            0x8a => {
                let length = self.input.u8()?;
                self.long(length.into())?;
            }
            0x8b => {
                let length = self.input.u32()?;
                self.long(length)?;
            }
            b'F' => {
                let value = text::float(self.input.line()?)?;
                self.push(Value::Float(value))?;
            }
            b'G' => {
                let value = f64::from_be_bytes(self.input.array()?);
                self.push(Value::Float(value))?;
            }

            b'S' => {
                let value = text::quoted(self.input.line()?)?;
                self.push(Value::Bytes(value.into()))?;
            }
            b'U' | b'C' => {
                let length = self.input.u8()?;
                self.bytes(length.into())?;
            }
            b'T' | b'B' => {
                let length = self.input.u32()?;
                self.bytes(length.into())?;
            }
            0x8e | 0x96 => {
                let length = self.input.u64()?;
                self.bytes(length)?;
            }
            b'V' => {
                let value = text::raw_unicode(self.input.line()?)?;
                self.push(Value::Text(value.into()))?;
            }
            0x8c => {
                let length = self.input.u8()?;
                self.text(length.into())?;
            }
            b'X' => {
                let length = self.input.u32()?;
                self.text(length.into())?;
            }
            0x8d => {
                let length = self.input.u64()?;
                self.text(length)?;
            }

            b')' => self.push(Value::Tuple(Vec::new()))?,
            0x85..=0x87 => {
                let mut items = vec![self.pop()?];
                for _ in 0x85..opcode {
                    items.push(self.pop()?);
                }
                items.reverse();
                self.push(Value::Tuple(items))?;
            }
            b't' => {
                let items = self.above_mark()?;
                self.push(Value::Tuple(items))?;
            }
            b']' => self.push(Value::List(Vec::new()))?,
            b'l' => {
                let items = self.above_mark()?;
                self.push(Value::List(items))?;
            }
            b'a' => {
                let item = self.pop()?;
                self.extend_list([item])?;
            }
            b'e' => {
                let items = self.above_mark()?;
                self.extend_list(items)?;
            }
            b'}' => self.push(Value::Dict(Vec::new()))?,
            b'd' => {
                let items = self.above_mark()?;
                self.push(Value::Dict(Vec::new()))?;
                self.extend_dict(&items)?;
            }
            b's' => {
                let value = self.pop()?;
                let key = self.pop()?;
                self.extend_dict(&[key, value])?;
            }
            b'u' => {
                let items = self.above_mark()?;
                self.extend_dict(&items)?;
            }

            b'p' => {
                let position = text::position(self.input.line()?)?;
                self.memoize(position)?;
            }
            b'q' => {
                let position = self.input.u8()?;
                self.memoize(position.into())?;
            }
            b'r' => {
                let position = self.input.u32()?;
                self.memoize(position.into())?;
            }
            0x94 => self.memoize(self.memo.len() as u64)?,
            b'g' => {
                let position = text::position(self.input.line()?)?;
                self.recall(position)?;
            }
            b'h' => {
                let position = self.input.u8()?;
                self.recall(position.into())?;
            }
            b'j' => {
                let position = self.input.u32()?;
                self.recall(position.into())?;
            }

            b'c' => {
                let module = String::from_utf8_lossy(self.input.line()?);
                let name = String::from_utf8_lossy(self.input.line()?);
                self.global(&module, &name)?;
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                match (self.value(module), self.value(name)) {
                    (Value::Text(module), Value::Text(name)) => {
                        let (module, name) = (module.clone(), name.clone());
                        self.global(&module, &name)?;
                    }
                    _ => return Err("a name is not made of two strings".into()),
                }
            }
            b'R' => {
                let (arguments, maker) = (self.pop()?, self.pop()?);
                self.call(maker, arguments)?;
            }
            0x81 => {
                let (arguments, class) = (self.pop()?, self.pop()?);
                match self.tuple(arguments)? {
                    [] => self.instance(class)?,
                    more => return Err(format!("an object is made with {} arguments", more.len())),
                }
            }
            b'b' => {
                let state = self.pop()?;
                let object = self.top()?;
                match &mut self.values[object.0 as usize] {
                    Value::Object(object) => object.state = Some(state),
                    _ => return Err("a state is given to a value that has none".into()),
                }
            }
            other => {
                return Err(format!(
                    "the opcode 0x{other:02x} is not one of those that plain data, \
                     NumPy arrays and SciPy CSR matrices need"
                ));
            }
        }
        Ok(None)
    }

    fn protocol(&mut self) -> Step {
        match self.input.u8()? {
            0..=NEWEST_PROTOCOL => Ok(()),
            newer => Err(format!(
                "pickle protocol {newer} is unknown; write the file with protocol \
                 {NEWEST_PROTOCOL} or older"
            )),
        }
    }

    pub(super) fn value(&self, id: Id) -> &Value<'a> {
        &self.values[id.0 as usize]
    }

    pub(super) fn push(&mut self, value: Value<'a>) -> Step {
        let id = u32::try_from(self.values.len()).map_err(|_| "there are too many values")?;
        self.values.push(value);
        self.stack.push(Id(id));
        Ok(())
    }

    fn top(&self) -> Step<Id> {
        let floor = self.marks.last().copied().unwrap_or(0);
        match self.stack.get(floor..) {
            Some([.., top]) => Ok(*top),
            _ => Err("the stack is empty here; the file is damaged".into()),
        }
    }

    fn pop(&mut self) -> Step<Id> {
        let top = self.top()?;
        self.stack.pop();
        Ok(top)
    }

    fn above_mark(&mut self) -> Step<Vec<Id>> {
        let floor = self.marks.pop().ok_or("there is no mark here; the file is damaged")?;
        Ok(self.stack.split_off(floor))
    }

    fn bytes(&mut self, length: u64) -> Step {
        let bytes = self.input.take(length)?;
        self.push(Value::Bytes(Cow::Borrowed(bytes)))
    }

    fn text(&mut self, length: u64) -> Step {
        let bytes = self.input.take(length)?;
        let text = std::str::from_utf8(bytes).map_err(|_| "a string is not UTF-8")?;
        self.push(Value::Text(Cow::Borrowed(text)))
    }

    /// A little-endian two's complement integer of any length, as long as it fits 64 bits.
    fn long(&mut self, length: u32) -> Step {
        let bytes = self.input.take(length)?;
        let negative = bytes.last().is_some_and(|&byte| byte >= 0x80);
        let fill = if negative { 0xff } else { 0 };
        let mut low = [fill; 8];
        let kept = bytes.len().min(8);
        low[..kept].copy_from_slice(&bytes[..kept]);
        let value = i64::from_le_bytes(low);
        if bytes[kept..].iter().any(|&byte| byte != fill) || (value < 0) != negative {
            return Err(format!("an integer of {} bytes does not fit 64 bits", bytes.len()));
        }
        self.push(Value::Int(value))
    }

    fn extend_list(&mut self, items: impl IntoIterator<Item = Id>) -> Step {
        let list = self.top()?;
        match &mut self.values[list.0 as usize] {
            Value::List(list) => {
                list.extend(items);
                Ok(())
            }
            _ => Err("something is appended to a value that is not a list".into()),
        }
    }

    fn extend_dict(&mut self, items: &[Id]) -> Step {
        let dict = self.top()?;
        let (pairs, rest) = items.as_chunks::<2>();
        match &mut self.values[dict.0 as usize] {
            Value::Dict(dict) if rest.is_empty() => {
                dict.extend(pairs.iter().map(|&[key, value]| (key, value)));
                Ok(())
            }
            Value::Dict(_) => Err("a dict has a key without a value".into()),
            _ => Err("a key is stored into a value that is not a dict".into()),
        }
    }

    fn memoize(&mut self, position: u64) -> Step {
        let top = self.top()?;
        self.memo.insert(position, top);
        Ok(())
    }

    fn recall(&mut self, position: u64) -> Step {
        let id = *self
            .memo
            .get(&position)
            .ok_or_else(|| format!("nothing is stored at memo position {position}"))?;
        self.stack.push(id);
        Ok(())
    }
}
