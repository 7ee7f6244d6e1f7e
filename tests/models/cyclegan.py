"""CycleGAN: two generators, two discriminators, two optimizers, fake images kept and detached."""

import itertools

import vitrify as paddle
from tests.models.case import Case, normal, together
from vitrify import nn


class ResnetBlock(nn.Layer):
    def __init__(self, dim, norm_layer, use_dropout=False):
        super().__init__()
        layers = [nn.Pad2D(1, mode="reflect"), nn.Conv2D(dim, dim, 3), norm_layer(dim), nn.ReLU()]
        if use_dropout:
            layers += [nn.Dropout(0.5)]
        layers += [nn.Pad2D([1, 1, 1, 1], mode="reflect"), nn.Conv2D(dim, dim, 3), norm_layer(dim)]
        self.conv_block = nn.Sequential(*layers)

    def forward(self, x):
        return x + self.conv_block(x)


class ResnetGenerator(nn.Layer):
    def __init__(self, ngf=4, n_blocks=1):
        super().__init__()
        norm = nn.InstanceNorm2D
        model = [nn.Pad2D([2, 2, 2, 2], mode="reflect"), nn.Conv2D(3, ngf, 5), norm(ngf), nn.ReLU()]
        model += [nn.Conv2D(ngf, ngf * 2, 3, stride=2, padding=1), norm(ngf * 2), nn.ReLU()]
        for _ in range(n_blocks):
            model += [ResnetBlock(ngf * 2, norm)]
        model += [nn.Conv2DTranspose(ngf * 2, ngf, 3, stride=2, padding=1, output_padding=1), norm(ngf), nn.ReLU()]
        model += [nn.Pad2D([2, 2, 2, 2], mode="reflect"), nn.Conv2D(ngf, 3, 5), nn.Tanh()]
        self.model = nn.Sequential(*model)

    def forward(self, x):
        return self.model(x)


class NLayerDiscriminator(nn.Layer):
    def __init__(self, ndf=4, n_layers=2):
        super().__init__()
        sequence = [nn.Conv2D(3, ndf, 4, stride=2, padding=1), nn.LeakyReLU(0.2)]
        nf_mult = 1
        for n in range(1, n_layers):
            nf_mult_prev, nf_mult = nf_mult, min(2**n, 8)
            sequence += [
                nn.Conv2D(ndf * nf_mult_prev, ndf * nf_mult, 4, stride=2, padding=1), nn.InstanceNorm2D(ndf * nf_mult),
                nn.LeakyReLU(0.2),
            ]  # fmt: skip
        sequence += [nn.Conv2D(ndf * nf_mult, 1, 3, padding=1)]
        self.model = nn.Sequential(*sequence)

    def forward(self, x):
        return self.model(x)


class GANLoss(nn.Layer):
    def __init__(self, target_real_label=1.0, target_fake_label=0.0):
        super().__init__()
        self.register_buffer("real_label", paddle.to_tensor(target_real_label))
        self.register_buffer("fake_label", paddle.to_tensor(target_fake_label))
        self.loss = nn.MSELoss()

    def __call__(self, prediction, target_is_real):
        label = self.real_label if target_is_real else self.fake_label
        return self.loss(prediction, label.expand_as(prediction))


class CycleGANModel(nn.Layer):
    def __init__(self, lambda_identity=0.5, lambda_A=10.0, lambda_B=10.0):
        super().__init__()
        self.nets = nn.LayerDict(
            {
                "netG_A": ResnetGenerator(),
                "netG_B": ResnetGenerator(),
                "netD_A": NLayerDiscriminator(),
                "netD_B": NLayerDiscriminator(),
            }
        )
        self.idt_weight, self.cycle_a, self.cycle_b = lambda_identity, lambda_A, lambda_B
        self.gan_criterion = GANLoss()
        self.cycle_criterion = nn.L1Loss()
        self.visual_items = {}

    def set_requires_grad(self, nets, requires_grad=False):
        for net in nets if isinstance(nets, list) else [nets]:
            for param in net.parameters():
                param.trainable = requires_grad

    def forward(self, real_A, real_B):
        """Run forward pass."""
        fake_B = self.nets["netG_A"](real_A)
        rec_A = self.nets["netG_B"](fake_B)
        fake_A = self.nets["netG_B"](real_B)
        rec_B = self.nets["netG_A"](fake_A)
        return {"fake_A": fake_A, "fake_B": fake_B, "rec_A": rec_A, "rec_B": rec_B}

    def generator_loss(self, real_A, real_B):
        out = self.forward(real_A, real_B)
        loss_idt_A = self.cycle_criterion(self.nets["netG_A"](real_B), real_B) * self.cycle_b * self.idt_weight
        loss_idt_B = self.cycle_criterion(self.nets["netG_B"](real_A), real_A) * self.cycle_a * self.idt_weight
        loss_G_A = self.gan_criterion(self.nets["netD_A"](out["fake_B"]), True)
        loss_G_B = self.gan_criterion(self.nets["netD_B"](out["fake_A"]), True)
        loss_cycle_A = self.cycle_criterion(out["rec_A"], real_A) * self.cycle_a
        loss_cycle_B = self.cycle_criterion(out["rec_B"], real_B) * self.cycle_b
        loss = loss_G_A + loss_G_B + loss_cycle_A + loss_cycle_B + loss_idt_A + loss_idt_B
        return loss, {k: v.detach() for k, v in out.items() if k.startswith("fake")}

    def discriminator_loss(self, real_A, real_B, fakes):
        loss = 0
        for name, real, fake in (("netD_A", real_B, fakes["fake_B"]), ("netD_B", real_A, fakes["fake_A"])):
            net = self.nets[name]
            loss_real = self.gan_criterion(net(real), True)
            loss_fake = self.gan_criterion(net(fake.detach()), False)
            loss += (loss_real + loss_fake) * 0.5
        return loss


def adversarial(case, model, compiled):
    nets = model.nets
    generators = itertools.chain(nets["netG_A"].parameters(), nets["netG_B"].parameters())
    discriminators = itertools.chain(nets["netD_A"].parameters(), nets["netD_B"].parameters())
    optimizer_g = paddle.optimizer.Adam(learning_rate=case.rate, parameters=list(generators), beta1=0.5)
    optimizer_d = paddle.optimizer.Adam(learning_rate=case.rate, parameters=list(discriminators), beta1=0.5)
    generator_loss, discriminator_loss = compiled(model.generator_loss), compiled(model.discriminator_loss)

    def step(inputs, labels):
        real_a, real_b = inputs
        model.set_requires_grad([model.nets["netD_A"], model.nets["netD_B"]], False)
        optimizer_g.clear_grad()
        loss_g, fakes = generator_loss(real_a, real_b)
        loss_g.backward()
        optimizer_g.step()
        model.set_requires_grad([model.nets["netD_A"], model.nets["netD_B"]], True)
        optimizer_d.clear_grad()
        loss_d = discriminator_loss(real_a, real_b, fakes)
        loss_d.backward()
        optimizer_d.step()
        return float(loss_g) + float(loss_d)

    return step


def cycle_loss(outputs, real_a, real_b):
    return paddle.abs(outputs["rec_A"] - real_a).mean() + paddle.abs(outputs["rec_B"] - real_b).mean()


IMAGES = together(normal(3, 8, 8), normal(3, 8, 8))
CASES = [Case("CycleGAN", CycleGANModel, IMAGES, cycle_loss, IMAGES, trainer=adversarial, rate=0.002, steps=4)]
