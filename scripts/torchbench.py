"""Times a case of torchcases.py: ours through the C API beside peers as CUDA graphs, for scripts/compare-pytorch."""
import concurrent.futures, ctypes as c, os, random, subprocess, time

import torch

cuda = "cuda"


class DlTensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("device_type", c.c_int32), ("device_id", c.c_int32), ("ndim", c.c_int32), ("code", c.c_uint8), ("bits", c.c_uint8),
                ("lanes", c.c_uint16), ("shape", c.POINTER(c.c_int64)), ("strides", c.POINTER(c.c_int64)), ("byte_offset", c.c_uint64)]


class Tensor(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("dl", DlTensor)]


class ContextOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("use_stream", c.c_int32), ("stream", c.c_void_p)]


dlpackCodes = {torch.float16: 2, torch.float32: 2, torch.bfloat16: 4, torch.int64: 0, torch.int32: 0}


class Program:
    """A program bound to PyTorch's memory and stream."""

    def __init__(self, library, artifact, stream):
        self.lib, self.handles = library, []
        device, program, self.context = c.c_void_p(), c.c_void_p(), c.c_void_p()
        self.call("tilewright_device_open", b"cuda", c.byref(device))
        self.call("tilewright_program_load", artifact.encode(), device, None, c.byref(program))
        options = ContextOptions(c.sizeof(ContextOptions), 1, stream)
        self.call("tilewright_context_create", program, c.byref(options), c.byref(self.context))

    def call(self, name, *arguments):
        if getattr(self.lib, name)(*arguments) != 0:
            self.lib.tilewright_last_error.restype = c.c_char_p
            raise RuntimeError(f"{name}: {self.lib.tilewright_last_error().decode()}")

    def tensors(self, values):
        array = (Tensor * len(values))()
        for slot, value in zip(array, values):
            shape = (c.c_int64 * value.dim())(*value.shape)
            self.handles += [shape, value]
            slot.struct_size = c.sizeof(Tensor)
            slot.dl = DlTensor(value.data_ptr(), 2, 0, value.dim(), dlpackCodes[value.dtype], value.element_size() * 8, 1, shape, None, 0)
        return array

    def bind(self, inputs, outputs):
        self.call("tilewright_context_bind", self.context, self.tensors(inputs), c.c_size_t(len(inputs)), self.tensors(outputs), c.c_size_t(len(outputs)))

    def __call__(self):
        self.call("tilewright_context_execute", self.context)

    def wait(self):
        self.call("tilewright_context_synchronize", self.context)


def graphed(function):
    """The function as a CUDA graph, after it has been warmed up; what torch.compile makes of it is compiled then."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream), torch.no_grad():
        for _ in range(3):
            function()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        function()
    return lambda kept=function: graph.replay()  # the graph reads memory that the function's own tensors hold


def medianTimes(work, rounds, flush):
    """Median microseconds of each callable with a cold second-level cache. All run once a round, each round in another
    order and none twice in a row: what ran before a kernel of 9 us changes its time by up to 5 %."""
    times, order, shuffle = [[] for _ in work], list(range(len(work))), random.Random(1).shuffle
    for run in range(rounds + 5):
        last = order[-1]
        shuffle(order)
        if order[0] == last:
            order.reverse()
        for i in order:
            flush.zero_()
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            work[i]()
            end.record()
            end.synchronize()
            if run >= 5:
                times[i].append(begin.elapsed_time(end) * 1e3)
    return [sorted(t)[len(t) // 2] for t in times]


def setTf32(allowed):
    """Whether PyTorch's products and convolutions of float32 may round their operands."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = allowed


class Bench:
    def __init__(self, options, library, folder):
        self.options, self.library, self.folder, self.compiling = options, library, folder, {}
        self.stream = torch.cuda.Stream()
        self.flush = torch.empty(256 << 20, dtype=torch.uint8, device=cuda)
        setTf32(True)

    def machine(self):
        return f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {time.strftime('%Y-%m-%d')}"

    def compileAll(self, cases):
        """Compiles ahead, on every core, so that the device does not wait."""
        with concurrent.futures.ThreadPoolExecutor() as pool:
            self.compiling = {case: pool.submit(self.compile, case) for case in cases}

    def compile(self, case):
        """The artifact of the case's model."""
        artifact, path = f"{self.folder}/{case.fileName()}.tw", case.path
        command = [self.options.tilewright, "compile", "--target", self.options.target, "-o", artifact, "-q", *self.options.flags.split()]
        if path:
            command += ["--random-weights", "--shapes", case.shapes]
        elif self.options.models:
            path = f"{self.options.models}/{case.fileName()}.onnx"
        else:
            import onnx
            path = f"{self.folder}/{case.fileName()}.onnx"
            onnx.save_model(case.model(), path, save_as_external_data=True, location=os.path.basename(path) + ".data", size_threshold=1 << 20)
        done = subprocess.run([*command, path], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError("compile: " + done.stderr.strip()[-120:])
        return artifact

    def contenders(self, case, inputs):
        """The peers that run here, as CUDA graphs, and why the others do not."""
        graphs, failed = {}, {}
        for name, function in case.peers(*inputs).items():
            if name == "torch.compile" and self.options.no_compile:
                continue
            try:
                graphs[name] = graphed(function)
            except Exception as error:  # a backend that this version or this shape does not have
                failed[name] = repr(error).split("\n")[0][:80]
        return graphs, failed

    def timeOnce(self, case, artifact):
        """(us of ours, {peer: us}, worst error, why peers failed), with operands somewhere in memory."""
        inputs = [tensor.to(cuda) for tensor in case.tensors(torch)]
        outputs = [torch.empty(shape, dtype=getattr(torch, kind), device=cuda) for kind, shape in case.outputs]
        ours = Program(self.library, artifact, self.stream.cuda_stream)
        ours.bind(inputs, outputs)
        ours()
        ours.wait()
        graphs, failed = self.contenders(case, inputs)
        worst = self.worst(case, inputs, outputs[0]) if case.checked else None
        times = medianTimes([ours, *graphs.values()], self.options.rounds, self.flush)
        if case.checked:  # the first run is not the one that is replayed
            worst = max(worst, self.worst(case, inputs, outputs[0]))
        return times[0], dict(zip(graphs, times[1:])), worst, failed

    def run(self, case):
        """{"ours", "peers": {name: us}, "ratios", "worst", "failed"}, or {"error"}. Times are means over several places
        in memory, ratios those of each place to its best peer: where operands lie changes kernels of 9 us by up to 6 %."""
        try:
            with torch.no_grad(), torch.cuda.stream(self.stream):
                torch.manual_seed(1)
                setTf32(case.reference is None)
                artifact = self.compiling[case].result() if case in self.compiling else self.compile(case)
                results, shift = [], random.Random(1)
                for _ in range(self.options.places):
                    torch.cuda.empty_cache()
                    before = torch.empty(shift.randrange(1, 128) << 20, dtype=torch.uint8, device=cuda)
                    results.append(self.timeOnce(case, artifact))
                    del before
                mean = lambda values: sum(values) / len(values)
                ours, peers, worst, failed = zip(*results)
                names = set(peers[0]).intersection(*peers)
                return {"ours": mean(ours), "peers": {name: mean([at[name] for at in peers]) for name in peers[0] if name in names},
                        "ratios": [min(at.values()) / us for us, at in zip(ours, peers) if at],
                        "worst": max(worst) if case.checked else None, "failed": {name: why for at in failed for name, why in at.items()}}
        except Exception as error:  # the next case may run
            return {"error": repr(error).split("\n")[0]}
        finally:
            torch.cuda.empty_cache()

    def worst(self, case, inputs, output):
        """The largest difference from what is expected, relative to its largest value, or to 1e-4 where all of it is less."""
        expected = (case.reference(*inputs) if case.reference else next(iter(case.peers(*inputs).values()))()).reshape(output.shape).float()
        return ((output.float() - expected).abs().max() / expected.abs().max().clamp_min(1e-4)).item()
