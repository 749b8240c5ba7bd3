"""Matrices on the GPU, by the driver alone: the demo needs neither PyTorch nor CuPy."""

import ctypes

EVENT_DEFAULT = 0


class Driver:
    """The first GPU, with a stream."""

    def __init__(self):
        """Open it."""
        self.library = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        stream = ctypes.c_void_p()
        self.call("cuStreamCreate", ctypes.byref(stream), 0)
        self.stream = stream.value

    def call(self, name, *args):
        """Call a function of the driver; its error is raised."""
        code = getattr(self.library, name)(*args)
        if code != 0:
            raise RuntimeError(f"{name} gives {code}")

    def wait(self):
        """Wait for all that was launched."""
        self.call("cuStreamSynchronize", ctypes.c_void_p(self.stream))

    def milliseconds(self, work, times):
        """What one of so many launches takes on the GPU, all between two events."""
        first, last = ctypes.c_void_p(), ctypes.c_void_p()
        stream = ctypes.c_void_p(self.stream)
        for event in (first, last):
            self.call("cuEventCreate", ctypes.byref(event), EVENT_DEFAULT)
        self.call("cuEventRecord", first, stream)
        for _ in range(times):
            work()
        self.call("cuEventRecord", last, stream)
        self.call("cuEventSynchronize", last)
        taken = ctypes.c_float()
        self.call("cuEventElapsedTime", ctypes.byref(taken), first, last)
        for event in (first, last):
            self.call("cuEventDestroy_v2", event)
        return taken.value / times


class Matrix:
    """Rows of float16 in the memory of the GPU."""

    def __init__(self, driver, rows, columns):
        """Allocate it."""
        self.driver = driver
        self.size = 2 * rows * columns
        address = ctypes.c_uint64()
        driver.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(self.size))
        self.address = address.value
        self.__cuda_array_interface__ = {
            "shape": (rows, columns),
            "typestr": "<f2",
            "data": (self.address, False),
            "strides": None,
            "version": 3,
        }

    def write(self, data):
        """Fill it with the bytes of its elements."""
        size = ctypes.c_size_t(self.size)
        self.driver.call("cuMemcpyHtoD_v2", ctypes.c_uint64(self.address), data, size)

    def read(self):
        """Give the bytes of its elements."""
        data = ctypes.create_string_buffer(self.size)
        size = ctypes.c_size_t(self.size)
        self.driver.call("cuMemcpyDtoH_v2", data, ctypes.c_uint64(self.address), size)
        return data.raw
