//! A model whose weights, workspace and buffers are blocks of a pool.
//!
//! # Invariants
//!
//! * M1: a block belongs to one owner here, is as large as the owner says, and lives as long as the owner.
//! * M2: a model is dropped, and so unloaded, before the blocks that it was loaded into.
//! * M3: models with one workspace run one at a time: each run holds the workspace's lock.
#![expect(unsafe_code, reason = "vouches to ACL for blocks of the pool")]

use std::error::Error;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use backend_ascend::acl::{Context, Dataset, DeviceMemory, DeviceSlice, MallocPolicy, Model, ModelSizes};
use mempool_core::{Allocation, Bytes, Pool};

/// What outputs are filled with before a run, so that an output that was not written is seen.
const STALE: u8 = 0xA5;

/// A block of the pool on the card of a context.
#[derive(Debug)]
struct Block {
    allocation: Allocation,
    size: usize,
}

impl Block {
    fn new(pool: &Pool, size: usize) -> Result<Self, Box<dyn Error>> {
        Ok(Self { allocation: pool.allocate(Bytes::new(size as u64))?, size })
    }

    /// A block of no bytes is none.
    fn if_any(pool: &Pool, size: usize) -> Result<Option<Self>, Box<dyn Error>> {
        (size > 0).then(|| Self::new(pool, size)).transpose()
    }

    fn slice<'a>(&'a self, context: &'a Context) -> DeviceSlice<'a> {
        // SAFETY: the pool's device is that of the context, since both come from one backend in `main`; the block has `size`
        // bytes, belongs to `self` alone, and lives as long as the borrow (M1).
        unsafe { context.slice_at(self.allocation.address().get(), self.size) }
    }
}

/// Work memory for models that run one after another.
#[derive(Debug)]
pub(crate) struct Workspace {
    block: Option<Block>,
    running: Mutex<()>,
}

impl Workspace {
    /// Takes the workspace from the pool; `size` is that of the model with the largest.
    pub(crate) fn new(pool: &Pool, size: usize) -> Result<Arc<Self>, Box<dyn Error>> {
        Ok(Arc::new(Self { block: Block::if_any(pool, size)?, running: Mutex::new(()) }))
    }
}

/// A loaded model with its buffers.
#[derive(Debug)]
pub(crate) struct PooledModel {
    // Dropped from the first field to the last (M2).
    model: Model,
    input: Dataset,
    output: Dataset,
    inputs: Vec<Block>,
    outputs: Vec<Block>,
    _weights: Option<Block>,
    workspace: Arc<Workspace>,
    context: Context,
    name: String,
    input_sizes: Vec<usize>,
}

impl PooledModel {
    /// Loads a model into blocks of the pool, with buffers of the sizes that it states.
    pub(crate) fn load(
        pool: &Pool,
        context: &Context,
        path: &Path,
        sizes: ModelSizes,
        workspace: &Arc<Workspace>,
    ) -> Result<Self, Box<dyn Error>> {
        let weights = Block::if_any(pool, sizes.weights)?;
        let work = workspace.block.as_ref().filter(|_| sizes.work > 0);
        let (work, weight) =
            (work.map(|block| block.slice(context)), weights.as_ref().map(|block| block.slice(context)));
        // SAFETY: `weights` and the workspace go into the value below, after the model (M2), and until then this function
        // holds them; nobody writes the weights, and what else uses the workspace runs at other times (M3).
        let model = unsafe { Model::load_into(context, path, work, weight) }?;
        let buffers = model.buffers()?;
        let blocks =
            |sizes: &[usize]| sizes.iter().map(|&size| Block::new(pool, size)).collect::<Result<Vec<_>, _>>();
        let (inputs, outputs) = (blocks(&buffers.inputs)?, blocks(&buffers.outputs)?);
        let (input, output) = (dataset(context, &inputs)?, dataset(context, &outputs)?);
        Ok(Self {
            model,
            input,
            output,
            inputs,
            outputs,
            _weights: weights,
            workspace: Arc::clone(workspace),
            context: context.clone(),
            name: path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
            input_sizes: buffers.inputs,
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn input_sizes(&self) -> &[usize] {
        &self.input_sizes
    }

    pub(crate) fn output_count(&self) -> usize {
        self.outputs.len()
    }

    /// Copies inputs to the card, runs, waits, and copies the outputs back.
    pub(crate) fn run(&mut self, inputs: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
        for (block, bytes) in self.inputs.iter().zip(inputs) {
            block.slice(&self.context).write(bytes)?;
        }
        for block in &self.outputs {
            block.slice(&self.context).fill(STALE)?;
        }
        {
            // A thread that panicked in a run has left nothing in the workspace that the next one reads.
            let _alone = self.workspace.running.lock().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: the buffers of both datasets are blocks of `self` (M1); `&mut self` keeps other runs of this model away,
            // and the lock those of models with the same workspace (M3).
            unsafe { self.model.execute(&self.input, &mut self.output) }?;
        }
        self.outputs.iter().map(|block| read_all(block.slice(&self.context))).collect()
    }
}

/// What the model in a file answers to [`input_patterns`] when ACL allocates its memory, and we the buffers without the pool.
pub(crate) fn run_in_memory_of_acl(context: &Context, path: &Path) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let model = Model::load(context, path)?;
    let sizes = model.buffers()?;
    let allocate = |sizes: &[usize]| {
        let policy = MallocPolicy::HUGE_FIRST;
        sizes.iter().map(|&size| DeviceMemory::allocate(context, size, policy)).collect::<Result<Vec<_>, _>>()
    };
    let (inputs, outputs) = (allocate(&sizes.inputs)?, allocate(&sizes.outputs)?);
    for (memory, bytes) in inputs.iter().zip(input_patterns(&sizes.inputs)) {
        memory.as_slice().write(&bytes)?;
    }
    let (mut input, mut output) = (Dataset::new(context)?, Dataset::new(context)?);
    inputs.iter().try_for_each(|memory| input.add(memory.as_slice()))?;
    for memory in &outputs {
        memory.as_slice().fill(STALE)?;
        output.add(memory.as_slice())?;
    }
    // SAFETY: the memory of both datasets lives to the end of this function, and nothing else knows of it or of the model.
    unsafe { model.execute(&input, &mut output) }?;
    outputs.iter().map(|memory| read_all(memory.as_slice())).collect()
}

/// Inputs that differ from byte to byte and are the same each time.
pub(crate) fn input_patterns(sizes: &[usize]) -> Vec<Vec<u8>> {
    let pattern = |(seed, &size): (u8, &usize)| {
        (0..size).map(|at| at.to_le_bytes()[0].wrapping_mul(7) ^ seed).collect()
    };
    (1..).zip(sizes).map(pattern).collect()
}

fn dataset(context: &Context, blocks: &[Block]) -> Result<Dataset, Box<dyn Error>> {
    let mut dataset = Dataset::new(context)?;
    blocks.iter().try_for_each(|block| dataset.add(block.slice(context)))?;
    Ok(dataset)
}

fn read_all(place: DeviceSlice<'_>) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut bytes = vec![0; place.size()];
    place.read(&mut bytes)?;
    Ok(bytes)
}
